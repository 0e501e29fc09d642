// Tests `make step02 timeline` on the emulator.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(timeline, .init = lab_enter, .fini = lab_leave);

// The order of one block's events, on the emulator: a page of it, unless COUNT says otherwise.
Test(timeline, an_order_by_the_page, .timeout = 120) {
#define ORDER MAKE UNOPTIMISED "step02 timeline ARGS='--seq 256 --heads 2' "
  script_result result = lab_run(ORDER "| sed -n '/^ *[0-9]/='");
  EXPECT_STATUS(result, 0);
  unsigned lines = 0;
  for (const char *c = result.out; *c; c++) lines += *c == '\n';
  cr_expect_eq(lines, 60, "not 60 events: %s", result.out);
  result = lab_run(ORDER);
  EXPECT(result, "kernel output_kernel, block (0,0,0)\n event warp 0 ", "\n 60 ",
         " more lines: COUNT=all shows all of them");
  result = lab_run(ORDER "COUNT=all | tail -n 5");
  EXPECT(result, " 511 ", "\n 512 ", "There are no times here");
  cr_expect_null(strstr(result.out, "COUNT=all"), "%s", result.out);
  result = lab_run(ORDER "COUNT=2 BLOCK=1 KERNEL=scores_kernel");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "kernel scores_kernel, block (1,0,0)\n", "\n 2 ", " ... ");
  result = lab_run(ORDER "BLOCK=9");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: the step has launched no block (9,0,0) for this problem");
  result = lab_run(ORDER "COUNT=some");
  EXPECT_STATUS(result, 2);
  EXPECT(result,
         "error: COUNT is \"some\": give the number of lines, such as COUNT=100, or COUNT=all");
}

// scripts/record.sh, with a make that only prints its arguments.
#define _GNU_SOURCE
#include "tests/kept.h"
#include "toolkit.h"

static void enter(void) {
  toolkit_enter();
  toolkit_write("bin/make", "#!/bin/bash\n"
                            "printf 'asked:'; printf ' [%s]' \"$@\"; echo\n"
                            "[[ $* != *\"${BROKEN:-nothing at all}\"* ]]\n");
  cr_assert(chmod("bin/make", 0700) == 0);
  setenv("MAKE", "bin/make", 1);
  unsetenv("FA3");
  unsetenv("FA3_DECODE");
  unsetenv("FRESH");
}

TestSuite(record, .init = enter, .fini = toolkit_leave);

Test(record, every_part_in_its_order) {
  cr_assert_eq(toolkit_run("mkdir -p steps/02_tiled/substeps steps/03_3dgrid/variants").status, 0);
  const script_result result =
      toolkit_run("FA3=/a/libfa3.so FA3_DECODE=/b/libfa3.so FRESH=1 scripts/record.sh 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "[ceilings] [FRESH=1]\n", "[ladder-now] [FRESH=1]\n",
         "[ladder-now] [NAME=ladder-bf16] [ARGS=--dtype bf16]", "[NAME=ladder-dim128]",
         "[NAME=ladder-one-head] [ARGS=--batch 1 --heads 1]", "[step05] [sweep]",
         "[NAME=sweep-05-dim128] [ARGS=--heads 16 --dim 128]", "[step06] [sweep]",
         "[step07] [sweep]", "[step09] [sweep]", "[NAME=sweep-09-dim128]",
         "[variants] [RECORD=1] [STEPS=03_3dgrid] [FRESH=1]\n",
         "[substeps] [RECORD=1] [STEPS=02_tiled] [FRESH=1]\n",
         "[peers] [FA3=/a/libfa3.so] [FRESH=1]\n", "[shapes] [FA3=/a/libfa3.so]",
         "[spread] [FA3=/a/libfa3.so]", "[waves] [FA3_DECODE=/b/libfa3.so]", "[step24] [splits]",
         "[decode] [FA3_DECODE=/b/libfa3.so]", "[step18] [splits]", "[bench] [FRESH=1]\n",
         "[step14] [timeline] [FRESH=1]\n", "[step14] [timeline] [ARGS=--dim 128]",
         "record: all is recorded in ");
}

// Each step that has such a record, in the charts and tables, is in its part.
Test(record, the_steps_of_a_part) {
  static const struct {
    const char *part, *of, *steps;
  } cases[] = {
      {"sweep", "sweep\\]$", "05 06 07 09 15 16 17 \n"},
      {"sweep", "NAME=sweep-[0-9]*-dim128\\]", "05 06 07 09 15 16 17 \n"},
      {"sweep", "NAME=sweep-[0-9]*-short\\]", "15 16 17 \n"},
      {"decode", "splits\\]$", "18 19 20 \n"},
      {"timeline", "timeline\\]$", "06 09 11 12 13 14 15 16 17 \n"},
      {"timeline", "dim 128\\]$", "06 09 11 12 13 14 15 16 17 \n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "scripts/record.sh %s | sed -n '/%s/s/^asked:.*\\[step\\([0-9]*\\)\\].*/\\1/p' | "
             "tr '\\n' ' '; echo",
             cases[i].part, cases[i].of);
    cr_expect_str_eq(kept(toolkit_run(command).out), cases[i].steps, "%s of %s", cases[i].of,
                     cases[i].part);
  }
}

Test(record, a_part_that_fails_does_not_keep_the_others_back) {
  const script_result result = toolkit_run("BROKEN=peers scripts/record.sh peers ceilings 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "[peers]\n", "FAILED after ", "[ceilings]\n",
         "record: these failed: make peers\n");
}

Test(record, a_part_that_there_is_not) {
  const script_result result = toolkit_run("scripts/record.sh pears 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: there is no part 'pears': there are ceilings, ladder, sweep, variants, "
                 "substeps, peers");
  const script_result second = toolkit_run("scripts/record.sh ceilings pears 2>&1");
  cr_expect_eq(second.status, 2, "it ended with %d: %s", second.status, second.out);
  EXPECT(second, "error: there is no part 'pears'");
  cr_expect_null(strstr(second.out, "[ceilings]"), "something was recorded: %s", second.out);
}

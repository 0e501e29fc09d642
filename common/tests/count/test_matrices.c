// Requests of narrow matrices, and of more accesses than a round and a table hold at first.
#include "matrices.h"

#include "emulator/count.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(count_column column, uint64_t expected) {
  const uint64_t counted = emulator_count_total().value[column];
  cr_expect_eq(counted, expected, "%s is %lu, not %lu", column_names[column].name,
               (unsigned long)counted, (unsigned long)expected);
}

// The 16 rows have 16 bytes each. Two requests have 8 rows each, in 4 sectors.
static void check_global(bool (*run)(bool)) {
  emulator_count_reset();
  cr_assert(run(false));
  expect(COUNT_GLOBAL_LOAD_REQUESTS, 2);
  expect(COUNT_GLOBAL_LOAD_SECTORS, 8);
}

// The lanes of one request have the 16 rows, of which 8 are served at a time.
static void check_shared(bool (*run)(bool)) {
  emulator_count_reset();
  cr_assert(run(true));
  expect(COUNT_SHARED_LOAD_REQUESTS, 1);
  expect(COUNT_SHARED_LOAD_WAVEFRONTS, 2);
}

Test(matrices, narrow_a) {
  check_global(matrices_run_a);
  check_shared(matrices_run_a);
}

Test(matrices, narrow_b) {
  check_global(matrices_run_b);
  check_shared(matrices_run_b);
}

// All are in one line of the source.
Test(matrices, long_block) {
  emulator_count_reset();
  const int line = matrices_run_long();
  cr_assert_gt(line, 0);
  expect(COUNT_GLOBAL_LOAD_REQUESTS, LONG_LOADS);
  expect(COUNT_GLOBAL_LOAD_SECTORS, 32 * LONG_LOADS); // one for each lane
  emulator_line_counts *lines;
  const size_t count = emulator_count_lines(&lines);
  uint64_t in_line = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(lines[i].file, "common/tests/count/matrices.cu") == 0 && lines[i].line == line)
      in_line += lines[i].counts.value[COUNT_GLOBAL_LOAD_REQUESTS];
  }
  free(lines);
  cr_expect_eq(in_line, LONG_LOADS);
}

// Lanes diverge and join again: their accesses must group into requests as a warp's do.
#include "divergence.h"

#include "emulator/count.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect(const char *name, count_column column, uint64_t counted, uint64_t expected) {
  cr_expect_eq(counted, expected, "%s: %s is %lu, not %lu", name, column_names[column].name,
               (unsigned long)counted, (unsigned long)expected);
}

Test(divergence, requests) {
  for (size_t i = 0; i < divergence_count(); i++) {
    const divergence_case kernel = divergence_at(i);
    emulator_count_reset();
    cr_assert(divergence_run(i), "%s failed", kernel.name);
    const count_values counted = emulator_count_total();
    const struct {
      count_column column;
      uint64_t expected;
    } columns[] = {{COUNT_GLOBAL_LOAD_REQUESTS, kernel.load_requests},
                   {COUNT_GLOBAL_LOAD_SECTORS, kernel.load_sectors},
                   {COUNT_GLOBAL_STORE_REQUESTS, kernel.store_requests},
                   {COUNT_GLOBAL_STORE_SECTORS, kernel.store_sectors},
                   {COUNT_DIVERGENT_BRANCHES, kernel.divergent_branches}};
    for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++) {
      expect(kernel.name, columns[j].column, counted.value[columns[j].column], columns[j].expected);
    }
  }
}

// Without a rule of fairness the waiting lanes would run for ever.
Test(divergence, waiting_for_another_lane, .timeout = 20) {
  emulator_count_reset();
  cr_assert(divergence_run_turn_by_turn());
  const count_values counted = emulator_count_total();
  expect("turn by turn", COUNT_GLOBAL_LOAD_REQUESTS, counted.value[COUNT_GLOBAL_LOAD_REQUESTS], 64);
  expect("turn by turn", COUNT_GLOBAL_STORE_SECTORS, counted.value[COUNT_GLOBAL_STORE_SECTORS], 64);
  // The first turn is stored; atomic functions are not counted.
  expect("turn by turn", COUNT_SHARED_STORE_REQUESTS, counted.value[COUNT_SHARED_STORE_REQUESTS],
         2);
  expect("turn by turn", COUNT_SHARED_LOAD_REQUESTS, counted.value[COUNT_SHARED_LOAD_REQUESTS], 0);
}

Test(divergence, sums_stay_until_reset) {
  emulator_count_reset();
  cr_assert(divergence_run(0));
  const uint64_t once = emulator_count_total().value[COUNT_GLOBAL_LOAD_SECTORS];
  cr_assert(divergence_run(0));
  cr_expect_eq(emulator_count_total().value[COUNT_GLOBAL_LOAD_SECTORS], 2 * once);
  emulator_count_reset();
  cr_expect_eq(emulator_count_total().value[COUNT_GLOBAL_LOAD_SECTORS], 0);
}

// Lines are sorted, add up to the total, and are those of the source.
Test(divergence, lines) {
  emulator_count_reset();
  const int line = divergence_run_one_line();
  cr_assert_gt(line, 0);
  emulator_line_counts *lines;
  const size_t count = emulator_count_lines(&lines);
  cr_assert_neq(count, SIZE_MAX);
  const emulator_line_counts *loads = NULL, *branch = NULL; // two lines below
  count_values sum = {0};
  for (size_t i = 0; i < count; i++) {
    if (strcmp(lines[i].file, "common/tests/count/divergence.cu") == 0) {
      if (lines[i].line == line) loads = &lines[i];
      if (lines[i].line == line + 2) branch = &lines[i];
    }
    if (i > 0) {
      const int files = strcmp(lines[i - 1].file, lines[i].file);
      cr_expect(files < 0 || (files == 0 && lines[i - 1].line < lines[i].line));
    }
    for (int j = 0; j < COUNT_COLUMNS; j++) sum.value[j] += lines[i].counts.value[j];
  }
  cr_assert_not_null(loads, "no counts for line %d", line);
  const count_values total = emulator_count_total();
  cr_expect_arr_eq(sum.value, total.value, sizeof total.value);
  cr_expect_eq(loads->counts.value[COUNT_GLOBAL_LOAD_REQUESTS], 2);
  cr_expect_eq(loads->counts.value[COUNT_GLOBAL_LOAD_SECTORS], 8);
  cr_assert_not_null(branch, "no counts for line %d", line + 2);
  cr_expect_eq(branch->counts.value[COUNT_DIVERGENT_BRANCHES], 1);
  free(lines);
}

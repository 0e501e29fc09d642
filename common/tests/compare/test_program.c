// Tests the whole program on small recordings: its output and its exit status.
#define _GNU_SOURCE
#include "recordings.h"

static void enter(void) { program_find("LAB_COMPARE"); }
TestSuite(compare, .init = enter, .fini = temporary_folder_leave);

Test(compare, two_runs_of_the_same_code) {
  record("a", 1);
  record_apart("b", 1.005);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "on NVIDIA H200", "larger than 1.0 %: 4 comparisons do not tell",
         "0 slower, 0 faster, 4 no difference, 0 too few runs; 0.0 % called different; 0 timed on "
         "one side only\n");
  cr_expect_str_empty(result.err);
}

Test(compare, a_row_is_slower) {
  record("a", 1);
  record_apart("b", 1.1);
  program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "06_cp_async  1x32x1024x64 fp16 causal      0.3029      0.3331    1.100",
         "   1.0 %  slower\n", "1 slower, 0 faster, 3 no difference", "25.0 % called different");
  result = program_run("b.csv a.csv");
  EXPECT(result, 0, "   1.0 %  faster\n", "0 slower, 1 faster, 3 no difference");
  result = program_run("a.csv b.csv --threshold 11");
  EXPECT(result, 0, "larger than 11.0 %", "0 slower, 0 faster, 4 no difference");
  record_apart("b", 1.02);
  result = program_run("--threshold 0.5 a.csv b.csv");
  EXPECT(result, 1, "1 slower, 0 faster, 3 no difference");
}

// A grid in two recordings: the program says how much the cells scatter, and their common difference.
Test(compare, many_rows) {
  const writer a = begin("a");
  for (int i = 0; i < 20; i++) add(&a, "05_wmma", 512 + i, 20, 100 + i);
  end(&a);
  writer b = begin("b");
  for (int i = 0; i < 20; i++) {
    add(&b, "05_wmma", 512 + i, 20, (100 + i) * (i == 7 ? 1.06 : 1.012 + 0.0005 * (i % 3)));
  }
  end(&b);
  cr_assert_eq(system("sed -i s/T14:38:37Z/T15:00:00Z/ b.csv b-samples.csv"), 0);
  program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "cells of up to 200 us: 20 that scatter by 0.0",
         "the median of new/old is 1.0125, which is taken for the machine's and divided out\n",
         "1 slower, 0 faster, 19 no difference", "5.0 % called different");
  cr_expect_str_empty(result.err, "%s", result.err);
  b = begin("b");
  for (int i = 0; i < 20; i++) add(&b, "05_wmma", 512 + i, 20, (100 + i) * 1.2);
  end(&b);
  cr_assert_eq(system("sed -i s/T14:38:37Z/T15:00:00Z/ b.csv b-samples.csv"), 0);
  result = program_run("a.csv b.csv");
  EXPECT(result, 1, "20 slower, 0 faster");
  expect_warning(&result,
                 "warning: half of the 20 rows of up to 200 us are slower by 20.0 % or more");
}

// Too few cells of each length, but enough of all lengths together.
// Ten rows in two bands, which together tell the noise of both.
static void record_two_lengths(const char *name, double factor) {
  const writer one = begin(name);
  for (int i = 0; i < 10; i++)
    add(&one, "05_wmma", 512 + i, 20, (i < 5 ? 100 + i : 400 + i) * factor);
  end(&one);
}

Test(compare, few_rows_of_each_length) {
  const char *const later = "sed -i s/T14:38:37Z/T15:00:00Z/ b.csv b-samples.csv";
  record_two_lengths("a", 1);
  record_two_lengths("b", 1.2);
  cr_assert_eq(system(later), 0);
  program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "all cells: 10 that scatter by", "10 slower, 0 faster");
  expect_warning(&result, "warning: half of the 10 rows are slower by 20.0 % or more");
  record_two_lengths("b", 1 / 1.25);
  cr_assert_eq(system(later), 0);
  result = program_run("a.csv b.csv");
  EXPECT(result, 0, "0 slower, 10 faster");
  expect_warning(&result, "warning: half of the 10 rows are faster by 25.0 % or more");
  record_two_lengths("b", 1.02); // as another machine may be
  cr_assert_eq(system(later), 0);
  result = program_run("a.csv b.csv");
  EXPECT(result, 0, "all cells: 10 that scatter by", "taken for the machine's and divided out",
         "0 slower, 0 faster, 10 no difference");
}

// Another commit is another run, though it was recorded in the same second.
Test(compare, one_date_of_two_commits) {
  record("a", 1);
  writer b = begin("b");
  b.commit = "def";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "new: b.csv, commit def", "1 no difference");
  cr_expect(!strstr(result.out, "of one run on both sides"), "%s", result.out);
}

Test(compare, numbers_are_compared_as_numbers) {
  const writer a = begin("a");
  add_keys(&a, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
           "05_wmma,,NVIDIA H200,fp16,2.0,8,8,512,512,64.00,1", 20, 100);
  end(&a);
  writer b = begin("b");
  b.limit = "700.00";
  add_key(&b, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  end(&b);
  const program_result result = program_expect_good("a.csv b.csv");
  EXPECT(result, 0, "1 no difference");
  cr_expect_str_empty(result.err, "%s", result.err); // a power limit of 700 W is one of 700.00 W
}

Test(compare, two_steps) {
  record("a", 1);
  const char *const names[][2] = {{"05", "06"}, {"05_wmma", "step06"}};
  for (size_t i = 0; i < 2; i++) {
    char line[128];
    snprintf(line, sizeof line, "a.csv a.csv --a %s --b %s", names[i][0], names[i][1]);
    program_result result = program_run(line);
    EXPECT(result, 0, "old: a.csv, 05_wmma", "new: a.csv, 06_cp_async", "  0.700", "  0.750",
           "0 slower, 2 faster, 0 no difference");
    snprintf(line, sizeof line, "a.csv a.csv --a %s --b %s", names[i][1], names[i][0]);
    result = program_run(line);
    EXPECT(result, 1, "2 slower, 0 faster");
  }
}

Test(compare, rows_of_one_side) {
  const writer a = begin("a");
  add(&a, "05_wmma", 512, 20, 100);
  add(&a, "05_wmma", 1024, 20, 100);
  add(&a, "06_cp_async", 512, 20, 100);
  add(&a, "06_cp_async", 1024, 0, 0);
  end(&a);
  const writer b = begin("b");
  add(&b, "05_wmma", 512, 20, 100);
  add(&b, "06_cp_async", 512, 0, 0);
  add(&b, "06_cp_async", 1024, 0, 0);
  add(&b, "07_later", 512, 20, 100);
  end(&b);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "timed in a.csv only: 05_wmma, 1x32x1024x64 fp16 causal\n",
         "timed in a.csv only: 06_cp_async, 1x32x512x64 fp16 causal (skipped in b.csv)\n",
         "timed in b.csv only: 07_later, 1x32x512x64 fp16 causal\n",
         "1 no difference, 0 too few runs; 0.0 % called different; 1 are of one run on both sides; "
         "3 timed on one side only\n");
}

// The share is of the rows that were recorded twice; the others can tell no difference.
Test(compare, share_of_what_was_recorded_twice) {
  const writer a = begin("a");
  add(&a, "05_wmma", 512, 20, 100);
  add(&a, "06_cp_async", 512, 20, 100);
  end(&a);
  const writer b = begin("b");
  add(&b, "05_wmma", 512, 20, 100);
  add(&b, "06_cp_async", 512, 20, 150);
  end(&b);
  cr_assert_eq(system("sed -i '/^06/s/T14:38:37Z/T15:00:00Z/' b.csv b-samples.csv"), 0);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1,
         "1 slower, 0 faster, 1 no difference, 0 too few runs; 100.0 % called different; "
         "1 are of one run on both sides; ");
}

Test(compare, too_few_runs) {
  const writer a = begin("a");
  add(&a, "05_wmma", 512, 4, 100);
  end(&a);
  const writer b = begin("b");
  add(&b, "05_wmma", 512, 4, 200);
  end(&b);
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "1 too few runs", "  2.000  -  ");
  expect_warning(&result, "warning: 1 rows are apart by more than their limit");
}

Test(compare, another_state_of_the_machine) {
  record("a", 1);
  writer b = begin("b");
  b.driver = "590.2";
  b.sm_clock = 1755;
  b.throttled = 1;
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  program_result result = program_run("a.csv b.csv");
  cr_expect_eq(result.status, 0);
  expect_warning(&result, "warning: the driver differs in 1 of 1 rows, first 580.1 against 590.2");
  expect_warning(&result, "warning: the SM clock at the end of the runs (MHz) differs in 1 of 1 "
                          "rows, first 1980 against 1755");
  expect_warning(&result,
                 "warning: whether power or heat held the GPU back (1: yes) differs in 1 of "
                 "1 rows, first 0 against 1");
  b = begin("b");
  b.limit = "600";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  cr_assert_eq(system("sed -i s/,13.0,3201,/,12.8,2619,/ b.csv"), 0);
  result = program_run("a.csv b.csv");
  expect_warning(&result, "warning: the CUDA version differs in 1 of 1 rows, first 13.0 against "
                          "12.8");
  expect_warning(&result, "warning: the memory clock (MHz) differs in 1 of 1 rows, first 3201 "
                          "against 2619");
  expect_warning(&result, "warning: the power limit (W) differs in 1 of 1 rows, first 700 against "
                          "600");
  b = begin("b"); // within 2 %
  b.sm_clock = 1950;
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  result = program_run("a.csv b.csv");
  cr_expect_str_empty(result.err, "%s", result.err);
}

// The table that the ladder prints: times and ratios on a GPU, counts on the emulator.
#define _GNU_SOURCE
#include "ladder/row.h"
#include "tests/kept.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const attention_shape shape = {ATTENTION_FP16, 4, 8, 8, 512, 512, 64, false, 0.125f};
static const attention_step steps[] = {{.name = "01_naive", .summary = "three kernels"},
                                       {.name = "02_tiled", .summary = "tiles"},
                                       {.name = "03_3dgrid", .summary = "a grid"},
                                       {.name = "04_online", .summary = "one kernel"}};
enum { ROWS = sizeof steps / sizeof steps[0] };
static ladder_row rows[ROWS];

// Rows that are right, with an error of a quarter of what is allowed.
static void begin(void) {
  for (int i = 0; i < ROWS; i++) {
    rows[i].step = &steps[i];
    rows[i].result = (result_row){.step = steps[i].name,
                                  .shape = shape,
                                  .verdict = CHECK_PASSED,
                                  .check = {.o_error = 0.001, .o_bound = 0.004}};
  }
}

TestSuite(row, .init = begin);

// The shape has 4 * 4 * 8 * 512 * 512 * 64 = 2.147e9 operations, which are 2.15 TFLOP/s where a launch takes 1 ms.
static void time_row(int row, double median) {
  rows[row].result.figures.times = (statistics_summary){10, 30, median, NAN, NAN, median, median};
}

static void expect_table(bool emulated, const char *expected) {
  device_info device = {.name = "Test GPU", .emulated = emulated};
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  row_print_table(file, &device, &shape, rows, ROWS);
  fclose(file);
  cr_expect_str_eq(text, expected, "%s\nis not\n%s", text, expected);
  free(text);
}

Test(row, times_and_ratios) {
  time_row(0, 10.73741824);
  time_row(1, 0.1);
  time_row(3, 0.5);
  rows[0].result.first = (result_speedup){"01_naive", {1, {1, 1}}};
  rows[1].result.first = (result_speedup){"01_naive", {107.374, {107, 108}}};
  rows[1].result.before = (result_speedup){"01_naive", {106.5, {106, 107}}};
  rows[1].result.workspace_bytes = 33554432;
  rows[1].result.figures.throttled_rounds = 3;
  rows[2].unsupported = "it takes nothing";
  rows[3].result.first = (result_speedup){"01_naive", {21.5, {21, 22}}};
  rows[3].result.before = (result_speedup){"02_tiled", {0.2, {0.19, 0.21}}};
  rows[3].result.same = (result_speedup){"64x32x4", {1.25, {1.2, 1.3}}};
  rows[3].same = &rows[0]; // the row of another configuration
  rows[3].before_in_same = &rows[1];
  expect_table(
      false, "\n4x8x512x64 fp16 on Test GPU\n\n"
             "step       adds           check   error/bound  workspace  median ms   TFLOP/s  x "
             "step 01  x before  same tile\n"
             "01_naive   three kernels  ok            0.250        0 B     10.737      0.20       "
             "1.00                      \n"
             "02_tiled   tiles          ok            0.250   33.55 MB     0.1000     21.47     "
             "107.37     106.50             throttled 3/10\n"
             "03_3dgrid  a grid         skipped: it takes nothing\n"
             "04_online  one kernel     ok            0.250        0 B     0.5000      4.29      "
             "21.50       0.20       1.25 in 64x32x4\n\n");
}

// Errors are shares of the allowed ones. Where nothing was timed a GPU's table says so.
Test(row, counts_of_the_emulator) {
  rows[0].counts = (device_counts){.launches = 1,
                                   .blocks = 2,
                                   .threads = 3,
                                   .block_barriers = 4,
                                   .warp_collectives = 5,
                                   .tensor_core_operations = 6,
                                   .async_copy_bytes = 7};
  rows[1].result.verdict = CHECK_FAILED;
  rows[1].result.check.o_error = NAN;
  rows[2].result.check.o_error = rows[2].result.check.o_bound = 0;
  const char *const head = "\n4x8x512x64 fp16 on Test GPU\n\n"
                           "step       adds           check   error/bound  workspace  ";
  char expected[2048];
  snprintf(
      expected, sizeof expected,
      "%slaunches  blocks   threads  barriers   warp ops    tensor  async bytes\n"
      "01_naive   three kernels  ok            0.250        0 B         1       2         3    "
      "     4          5         6            7\n"
      "02_tiled   tiles          FAILED          nan        0 B         0       0         0    "
      "     0          0         0            0\n"
      "03_3dgrid  a grid         ok            0.000        0 B         0       0         0    "
      "     0          0         0            0\n"
      "04_online  one kernel     ok            0.250        0 B         0       0         0    "
      "     0          0         0            0\n\n",
      head);
  expect_table(true, expected);
  snprintf(expected, sizeof expected,
           "%smedian ms   TFLOP/s    x first  x before  same tile\n"
           "01_naive   three kernels  ok            0.250        0 B  not timed\n"
           "02_tiled   tiles          FAILED          nan        0 B  not timed\n"
           "03_3dgrid  a grid         ok            0.000        0 B  not timed\n"
           "04_online  one kernel     ok            0.250        0 B  not timed\n\n",
           head);
  expect_table(false, expected);
}

// A sweep ranks configurations, and a file of variants names them.
Test(row, configurations_and_variants) {
  attention_step configured[ROWS];
  memcpy(configured, steps, sizeof steps);
  for (int i = 0; i < ROWS; i++) {
    configured[i].configuration = i == 0 ? "64x64x4x2" : "32x32x4";
    rows[i].step = &configured[i];
    time_row(i, 1);
    rows[i].result.first = (result_speedup){"64x64x4x2", {0.5, {0.5, 0.5}}};
  }
  char *text = NULL;
  size_t length = 0;
  const device_info device = {.name = "Test GPU"};
  FILE *file = open_memstream(&text, &length);
  row_print_table(file, &device, &shape, rows, 1);
  for (int i = 0; i < 2; i++) rows[i].result.variant = i == 0 ? "" : "no_pad";
  row_print_table(file, &device, &shape, rows, 2);
  fclose(file);
  cr_expect(strstr(text, "TFLOP/s  x fastest  "), "%s", text);
  cr_expect(strstr(text, "\n01_naive  64x64x4x2  ok            0.250        0 B      1.000"), "%s",
            text);
  cr_expect(strstr(text, "step      variant          check "), "%s", text);
  cr_expect(strstr(text, "\n01_naive  the step itself  ok  "), "%s", text);
  cr_expect(strstr(text, "\n02_tiled  no_pad           ok  "), "%s", text);
  free(text);
  cr_expect_str_eq(kept(row_name(&rows[1]).text), "02_tiled, variant no_pad");
  rows[1].result.variant = NULL;
  cr_expect_str_eq(kept(row_name(&rows[1]).text), "02_tiled, configuration 32x32x4");
}

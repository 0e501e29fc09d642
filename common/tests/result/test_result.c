// Tests the lines of a record: the columns that charts and comparisons read by name, and their values.
#define _GNU_SOURCE
#include "result/result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char columns[] =
    "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,inputs,"
    "scale,check,"
    "o_error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms,"
    "tflops,rounds,throttled_rounds,throttled,run_clock_mhz,run_power_w,graph_ms,graph_ci_low_ms,"
    "graph_ci_high_ms,floor_ms,floor_graph_ms,floor_nothing_ms,base_step,speedup,speedup_low,"
    "speedup_high,before_step,speedup_before,speedup_before_low,speedup_before_high,"
    "same_configuration,speedup_same,speedup_same_low,speedup_same_high,driver,cuda,sm_"
    "clock_before_mhz,sm_clock_after_mhz,memory_clock_mhz,power_before_w,"
    "power_after_w,power_limit_w,temperature_before_c,temperature_after_c,commit,date";
static const char count_columns[] =
    ",launches,blocks,threads,block_barriers,warp_collectives,tensor_core_operations,"
    "async_copy_bytes";

static char text[8192];
static FILE *file;

static void open_file(void) { file = fmemopen(text, sizeof text, "w"); }
static void expect(const char *expected) {
  fclose(file);
  cr_expect_str_eq(text, expected, "%s\nis not\n%s", text, expected);
  open_file();
}

static result_row sample_row(void) {
  result_row row = {
      .step = "04_online_softmax",
      .device = "NVIDIA H200",
      .shape = {ATTENTION_BF16, 1, 2, 1, 1000, 1000, 64, true, 0.125f},
      .inputs = "normal",
      .verdict = CHECK_PASSED,
      .check = {.o_error = 0.001, .o_bound = 0.004, .lse_error = 2.5e-7},
      .workspace_bytes = 1234,
      .figures = {.times = {10, 30, 2.5, 2.25, 2.75, 2, 3},
                  .graph = {10, 10, 2.25, 2.125, 2.375, 2, 3},
                  .throttled_rounds = 4,
                  .sm_clock_mhz = 1965,
                  .power_w = 480.5},
      .floor = {0.001, 0.0025, 0.00125},
      .first = {"01_naive", {300, {299, 301}}},
      .before = {"03_3dgrid", {1.5, {1.25, 1.75}}},
      .same = {"64x32x4", {1.25, {1.125, 1.375}}},
      .conditions = {.before = {"570.1", 1980, 2619, 118.93, 650, 37},
                     .after = {"580.1", 1905, 3201, 650.5, 700, 45},
                     .origin = {"13.0", "abc1234", "2026-11-20T14:26:19Z"}},
  };
  return row;
}

TestSuite(result, .init = open_file);

Test(result, names) {
  char expected[2048];
  result_write_names(file, 0);
  snprintf(expected, sizeof expected, "%s\n", columns);
  expect(expected);
  result_write_names(file, RESULT_COUNTS);
  snprintf(expected, sizeof expected, "%s%s\n", columns, count_columns);
  expect(expected);
  result_write_sample_names(file, 0);
  expect("step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,commit,"
         "date,round,place,throttled,sm_clock_mhz,power_w,graph_microseconds,microseconds\n");
}

// 2 heads, 1000 * 1001 / 2 visible pairs, 4 * 64 operations each: 256,256,000 in 2.5 ms.
Test(result, values) {
  result_row row = sample_row();
  result_write(file, &row, NULL);
  expect(
      "04_online_softmax,,NVIDIA "
      "H200,bf16,1,2,1,1000,1000,64,1,normal,0.125,ok,0.001,0.004,2.5e-07,1234,30,"
      "2.5,2.25,2.75,2,3,0.102502,10,4,0,1965,480.5,2.25,2.125,2.375,0.0025,0.00125,0.001,01_naive,"
      "300,299,301,03_3dgrid,1.5,1.25,1.75,64x32x4,1.25,1.125,1.375,580.1,13.0,1980,1905,3201,118."
      "93,650.5,700,37,45,"
      "abc1234,"
      "2026-11-20T14:26:19Z\n");
}

// Each round has a line of its own.
Test(result, samples) {
  static timing_burst bursts[2] = {
      {.place = 3,
       .launches = 3,
       .milliseconds = {2.0004, 2.5, 3.0006},
       .graph_ms = 0.125,
       .state = {1980, 512.5, false},
       .throttled = true}, // by its clock alone
      {.place = 0, .launches = 1, .milliseconds = {2.5}, .state = {1905, 700, false}}};
  bursts[1].graph_ms = NAN;
  const timing_contender contender = {.bursts = bursts, .rounds = 2};
  result_row row = sample_row();
  row.configuration = "64x64x4x2";
  result_write_samples(file, &row, &contender);
  expect("04_online_softmax,64x64x4x2,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,abc1234,"
         "2026-11-20T14:26:19Z,0,3,1,1980,512.5,125.000,2000.400 2500.000 3000.600\n"
         "04_online_softmax,64x64x4x2,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,abc1234,"
         "2026-11-20T14:26:19Z,1,0,0,1905,700,,2500.000\n");
}

// A file of variants has one more column, after the step, which is empty for the step itself.
Test(result, variants) {
  result_write_names(file, RESULT_VARIANTS);
  result_write_sample_names(file, RESULT_VARIANTS);
  fclose(file);
  cr_expect(strncmp(text, "step,variant,configuration,device,", 34) == 0, "%s", text);
  cr_expect(strstr(text, "\nstep,variant,configuration,device,"), "%s", text);
  open_file();
  result_row row = sample_row();
  row.variant = "no_pad";
  result_write(file, &row, NULL);
  row.variant = "";
  result_write(file, &row, NULL);
  fclose(file);
  cr_expect(strncmp(text, "04_online_softmax,no_pad,,NVIDIA H200,", 38) == 0, "%s", text);
  cr_expect(strstr(text, "\n04_online_softmax,,,NVIDIA H200,"), "%s", text);
}

// Counts the columns that only a timed row fills, from samples to speedup_same_high.
#define NOT_TIMED ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,"

// A field that does not apply is empty, and the columns after it keep their places.
Test(result, empty_values) {
  result_row row = sample_row();
  row.figures.times = (statistics_summary){2, 2, 2.5, NAN, NAN, 2, 3}; // two runs
  row.figures.graph.runs = 0;
  row.figures.throttled_rounds = 1;
  row.figures.sm_clock_mhz = row.figures.power_w = NAN;
  row.floor = timing_no_floor();
  row.first.speedup = (statistics_ratio){300, {NAN, NAN}};
  row.before.to = row.same.to = NULL;
  row.conditions.before = row.conditions.after = (record_state){"", NAN, NAN, NAN, NAN, NAN};
  result_write(file, &row, NULL);
  expect("04_online_softmax,,NVIDIA "
         "H200,bf16,1,2,1,1000,1000,64,1,normal,0.125,ok,0.001,0.004,2.5e-07,1234,2,"
         "2.5,,,2,3,0.102502,2,1,1,,,,,,,,,01_naive,300,,,,,,,,,,,,13.0,,,,,,,,,abc1234,"
         "2026-11-20T14:26:19Z\n");

  row = sample_row();
  row.verdict = CHECK_SKIPPED;
  result_write(file, &row, NULL);
  expect(
      "04_online_softmax,,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,normal,0.125,skipped,,,,," NOT_TIMED
      "580.1,13.0,"
      "1980,1905,3201,118.93,650.5,700,37,45,abc1234,2026-11-20T14:26:19Z\n");

  row.verdict = CHECK_FAILED;
  row.check.o_error = NAN;
  row.figures.times.samples = 0;
  const device_counts counts = {.launches = 1,
                                .blocks = 2,
                                .threads = 3,
                                .block_barriers = 4,
                                .warp_collectives = 5,
                                .tensor_core_operations = 6,
                                .async_copy_bytes = 7};
  result_write(file, &row, &counts);
  expect("04_online_softmax,,NVIDIA "
         "H200,bf16,1,2,1,1000,1000,64,1,normal,0.125,FAILED,nan,0.004,2.5e-07,1234," NOT_TIMED
         "580.1,13.0,1980,1905,3201,118.93,650.5,700,37,45,abc1234,2026-11-20T14:26:19Z,1,2,3,"
         "4,5,6,7\n");
  const device_counts none = {0};
  row.verdict = CHECK_SKIPPED;
  result_write(file, &row, &none);
  fclose(file);
  cr_expect(strstr(text, "Z,,,,,,,\n"), "%s", text);
}

// Times are compared by others, who need more digits than a chart shows. A scale is read back as the same float32.
Test(result, digits_and_names_are_kept) {
  result_row row = sample_row();
  row.device = "A \"GPU\", of 2";
  row.shape.scale = 0.0883883461f;
  row.figures.times = (statistics_summary){10, 30, 2.12345, 2.12344, 2.12346, 2.12341, 2.12349};
  row.first.speedup.ratio = row.before.speedup.ratio = NAN; // of no round that both have
  row.same.speedup = (statistics_ratio){1.23456, {1.23455, 1.23457}};
  result_write(file, &row, NULL);
  fclose(file);
  cr_expect(strstr(text, ",\"A \"\"GPU\"\", of 2\",bf16,"), "%s", text);
  cr_expect(strstr(text, ",0.0883883461,ok,"), "%s", text);
  cr_expect(strstr(text, ",2.12345,2.12344,2.12346,2.12341,2.12349,"), "%s", text);
  cr_expect(strstr(text, ",0.00125,0.001,,,,,,,,,64x32x4,1.23456,1.23455,1.23457,580.1,"), "%s",
            text);
}

Test(result, no_speed_without_time) {
  const result_row row = sample_row();
  const statistics_summary none = {0};
  cr_expect(isnan(result_tflops(&row.shape, &none)));
  cr_expect_float_eq(result_tflops(&row.shape, &row.figures.times), 256256000.0 / 2.5e-3 * 1e-12,
                     1e-12);
}

// The speed-up is the other step's time divided by this step's time.
Test(result, a_faster_step_has_a_speedup_above_one) {
  static timing_burst bursts[2][5];
  for (size_t i = 0; i < 5; i++) {
    bursts[0][i].median = 2;
    bursts[1][i].median = 6;
  }
  const timing_contender fast = {.bursts = bursts[0], .rounds = 5};
  const timing_contender slow = {.bursts = bursts[1], .rounds = 5};
  const result_speedup got = result_compare(&fast, &slow, "slow");
  cr_expect(got.speedup.ratio == 3 && got.speedup.interval.low == 3);
  cr_expect_str_eq(got.to, "slow");
}

// Every recorded median can be computed again from the samples in the file beside it.
Test(result, a_recorded_median_is_that_of_its_samples) {
  static timing_burst bursts[7];
  for (size_t i = 0; i < 7; i++) {
    bursts[i].launches = 3;
    bursts[i].graph_ms = NAN;
    for (size_t k = 0; k < 3; k++)
      bursts[i].milliseconds[k] = 0.1 * (double)((5 * i + 3 * k) % 11 + 1);
    bursts[i].median = statistics_median(bursts[i].milliseconds, 3);
  }
  const timing_contender contender = {.bursts = bursts, .rounds = 7};
  result_row row = sample_row();
  row.figures = timing_figure(&contender);
  result_write_samples(file, &row, &contender);
  fclose(file);
  double medians[7];
  size_t rounds = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    double launch[3];
    cr_assert_eq(sscanf(strrchr(line, ',') + 1, "%lf %lf %lf", &launch[0], &launch[1], &launch[2]),
                 3);
    medians[rounds++] = statistics_median(launch, 3) / 1000;
  }
  cr_assert_eq(rounds, 7);
  cr_expect_float_eq(statistics_median(medians, 7), row.figures.times.median, 1e-9);
}

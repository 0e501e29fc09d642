// The lines of a record: the columns that charts and comparisons read by name, and what stands in them.
#define _GNU_SOURCE
#include "result/result.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char columns[] =
    "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
    "o_error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms,"
    "tflops,driver,cuda,sm_clock_before_mhz,sm_clock_after_mhz,memory_clock_mhz,power_before_w,"
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
      .verdict = CHECK_PASSED,
      .check = {.o_error = 0.001, .o_bound = 0.004, .lse_error = 2.5e-7},
      .workspace_bytes = 1234,
      .times = {.samples = 3, .median = 2.5, .low = 2.25, .high = 2.75, .p5 = 2, .p95 = 3},
      .conditions = {.before = {"580.1", 1980, 3201, 118.93, 700, 37},
                     .after = {"580.1", 1905, 3201, 650.5, 700, 45},
                     .origin = {"13.0", "abc1234", "2026-11-20T14:26:19Z"}},
  };
  return row;
}

TestSuite(result, .init = open_file);

Test(result, names) {
  char expected[2048];
  result_write_names(file, false);
  snprintf(expected, sizeof expected, "%s\n", columns);
  expect(expected);
  result_write_names(file, true);
  snprintf(expected, sizeof expected, "%s%s\n", columns, count_columns);
  expect(expected);
  result_write_sample_names(file);
  expect("step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,commit,"
         "date,microseconds\n");
}

// 2 heads, 1000 * 1001 / 2 visible pairs, 4 * 64 operations each: 256,256,000 in 2.5 ms.
Test(result, values) {
  result_row row = sample_row();
  result_write(file, &row, NULL);
  expect("04_online_softmax,,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,ok,0.001,0.004,2.5e-07,1234,3,"
         "2.5,2.25,2.75,2,3,0.102502,580.1,13.0,1980,1905,3201,118.93,650.5,700,37,45,abc1234,"
         "2026-11-20T14:26:19Z\n");
  row.configuration = "64x64x4x2";
  const double milliseconds[] = {2.0004, 2.5, 3.0006};
  result_write_samples(file, &row, milliseconds);
  expect("04_online_softmax,64x64x4x2,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,abc1234,"
         "2026-11-20T14:26:19Z,2000.400 2500.000 3000.600\n");
}

// What does not apply is empty, and the columns after it stay where they are.
Test(result, empty_values) {
  result_row row = sample_row();
  row.times.low = row.times.high = NAN; // one sample
  row.conditions.before = row.conditions.after = (record_state){"", NAN, NAN, NAN, NAN, NAN};
  result_write(file, &row, NULL);
  expect("04_online_softmax,,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,ok,0.001,0.004,2.5e-07,1234,3,"
         "2.5,,,2,3,0.102502,,13.0,,,,,,,,,abc1234,2026-11-20T14:26:19Z\n");

  row = sample_row();
  row.verdict = CHECK_SKIPPED;
  result_write(file, &row, NULL);
  expect("04_online_softmax,,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,skipped,,,,,,,,,,,,580.1,13.0,"
         "1980,1905,3201,118.93,650.5,700,37,45,abc1234,2026-11-20T14:26:19Z\n");

  row.verdict = CHECK_FAILED;
  row.check.o_error = NAN;
  row.times.samples = 0;
  const device_counts counts = {1, 2, 3, 4, 5, 6, 7};
  result_write(file, &row, &counts);
  expect("04_online_softmax,,NVIDIA H200,bf16,1,2,1,1000,1000,64,1,FAILED,nan,0.004,2.5e-07,1234,,,"
         ",,,,,580.1,13.0,1980,1905,3201,118.93,650.5,700,37,45,abc1234,2026-11-20T14:26:19Z,1,2,3,"
         "4,5,6,7\n");
  const device_counts none = {0};
  row.verdict = CHECK_SKIPPED;
  result_write(file, &row, &none);
  fclose(file);
  cr_expect(strstr(text, "Z,,,,,,,\n"), "%s", text);
}

Test(result, no_speed_without_time) {
  const result_row row = sample_row();
  const statistics_summary none = {0};
  cr_expect(isnan(result_tflops(&row.shape, &none)));
  cr_expect_float_eq(result_tflops(&row.shape, &row.times), 256256000.0 / 2.5e-3 * 1e-12, 1e-12);
}

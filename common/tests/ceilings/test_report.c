// Tests the record of the ceilings, and the vendor's values in it.
#define _GNU_SOURCE
#include "ceilings/report.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char columns[] =
    "name,unit,value,ci_low,ci_high,samples,vendor_value,vendor_source,device,work,median_ms,"
    "rounds,throttled_rounds,throttled,run_clock_mhz,run_power_w,driver,cuda,"
    "sm_clock_before_mhz,sm_clock_after_mhz,memory_clock_mhz,power_before_w,power_after_w,"
    "power_limit_w,temperature_before_c,temperature_after_c,commit,date\n";

// 10 GB in 2.5 ms, 2.4 to 2.6: 4000 GB/s.
static const ceiling_result copy = {
    .name = "copy_bandwidth",
    .unit = "GB/s",
    .unit_size = 1e9,
    .work = 1e10,
    .figures = {.times = {10, 60, 2.5, 2.4, 2.6, 2.3, 2.7},
                .throttled_rounds = 5,
                .sm_clock_mhz = 1905,
                .power_w = 650},
    .conditions = {.before = {"580.1", 1980, 3201, 118.93, 700, 37},
                   .after = {"580.1", 1905, 3201, 650.5, 700, 45},
                   .origin = {"13.0", "abc1234", "2026-11-20T14:26:19Z"}},
};

static const char conditions[] = "10000000000,2.5,10,5,1,1905,650,580.1,13.0,1980,1905,3201,118.93,"
                                 "650.5,700,37,45,abc1234,2026-11-20T14:26:19Z\n";

static void expect(const char *gpu, const ceiling_result *result, const char *expected) {
  char *text = NULL;
  size_t length = 0;
  device_info device;
  snprintf(device.name, sizeof device.name, "%s", gpu);
  FILE *file = open_memstream(&text, &length);
  ceiling_write_names(file);
  ceiling_write(file, &device, result);
  fclose(file);
  char *all = NULL;
  cr_assert(asprintf(&all, "%s%s%s", columns, expected, conditions) > 0);
  cr_expect_str_eq(text, all, "%s\nis not\n%s", text, all);
  free(all);
  free(text);
}

Test(ceilings, the_longest_time_is_the_lowest_rate) {
  expect("NVIDIA H200", &copy,
         "copy_bandwidth,GB/s,4000,3846.15,4166.67,60,4800,"
         "NVIDIA H200 Tensor Core GPU data sheet (SXM),NVIDIA H200,");
}

// 4000 of 4800 GB/s, half of whose rounds were held back.
Test(ceilings, the_table_has_the_share_of_the_vendors_value) {
  char text[512] = "";
  const device_info device = {.name = "NVIDIA H200"};
  FILE *file = fmemopen(text, sizeof text, "w");
  ceiling_print(file, &device, &copy);
  fclose(file);
  cr_expect_str_eq(
      text,
      "copy_bandwidth          4000.0  GB/s          3846.2 to   4166.7          83 %  "
      "throttled in 5 of 10 runs\n",
      "%s", text);
}

// 20000 loads in 2.5 ms, 2.4 to 2.6: 125 ns for each.
Test(ceilings, the_longest_time_is_the_highest_latency) {
  ceiling_result latency = copy;
  latency.name = "l2_latency";
  latency.unit = "ns";
  latency.unit_size = 1e-9;
  latency.kind = CEILING_LATENCY;
  latency.work = 20000;
  char *text = NULL;
  size_t length = 0;
  const device_info device = {.name = "NVIDIA H200"};
  FILE *file = open_memstream(&text, &length);
  ceiling_write(file, &device, &latency);
  ceiling_print(file, &device, &latency);
  fclose(file);
  cr_expect_not_null(strstr(text, "l2_latency,ns,125,120,130,60,,,NVIDIA H200,20000,2.5,"), "%s",
                     text);
  cr_expect_not_null(strstr(text, " 125.0  ns             120.0 to    130.0  throttled"), "%s",
                     text);
  free(text);
}

Test(ceilings, what_no_data_sheet_tells_is_empty) {
  expect("NVIDIA Titan of the future", &copy,
         "copy_bandwidth,GB/s,4000,3846.15,4166.67,60,,,NVIDIA Titan of the future,");
  ceiling_result exp2 = copy;
  exp2.name = "exp2";
  exp2.unit = "Gop/s";
  expect("NVIDIA H200", &exp2, "exp2,Gop/s,4000,3846.15,4166.67,60,,,NVIDIA H200,");
}

Test(ceilings, a_line_of_samples_for_each_round) {
  static timing_burst bursts[2] = {
      {.place = 1, .launches = 2, .milliseconds = {2.5, 2.625}, .state = {1980, 512.5, false}},
      {.place = 0,
       .launches = 1,
       .milliseconds = {2.75},
       .state = {1905, 700, true},
       .throttled = true}};
  bursts[0].graph_ms = bursts[1].graph_ms = NAN;
  const timing_contender contender = {.bursts = bursts, .rounds = 2};
  const device_info device = {.name = "NVIDIA H200"};
  char text[1024] = "";
  FILE *file = fmemopen(text, sizeof text, "w");
  ceiling_write_sample_names(file);
  ceiling_write_samples(file, &device, &copy, &contender);
  fclose(file);
  cr_expect_str_eq(
      text,
      "name,device,commit,date,round,place,throttled,sm_clock_mhz,power_w,graph_microseconds,"
      "microseconds\n"
      "copy_bandwidth,NVIDIA H200,abc1234,2026-11-20T14:26:19Z,0,1,0,1980,512.5,,2500.000 "
      "2625.000\n"
      "copy_bandwidth,NVIDIA H200,abc1234,2026-11-20T14:26:19Z,1,0,1,1905,700,,2750.000\n",
      "%s", text);
}

Test(ceilings, vendors_values) {
  const vendor_values *a100 = vendor_find("NVIDIA A100-SXM4-80GB");
  cr_assert_not_null(a100);
  cr_expect_eq(vendor_value(a100, "copy_bandwidth"), 2039);
  cr_expect_eq(vendor_value(a100, "read_bandwidth"), 2039);
  cr_expect_eq(vendor_value(a100, "fp32_fma"), 19.5);
  cr_expect_eq(vendor_value(a100, "tensor_mma_fp16"), 312);
  cr_expect_eq(vendor_value(a100, "tensor_mma_bf16"), 312);
  cr_expect(isnan(vendor_value(a100, "exp2")));
  cr_expect(isnan(vendor_value(a100, "l2_read_bandwidth")));
  cr_expect(isnan(vendor_value(a100, "memory_latency")));
  cr_expect(isnan(vendor_value(NULL, "fp32_fma")));
  // The rates of tensor cores are those without sparsity.
  static const struct {
    const char *gpu;
    double bandwidth, fp32, tensor;
  } others[] = {{"NVIDIA H200", 4800, 67, 989.5},
                {"NVIDIA H100 80GB HBM3", 3350, 67, 989.5},
                {"NVIDIA A100-SXM4-40GB", 1555, 19.5, 312},
                {"NVIDIA L4", 300, 30.3, 121}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const vendor_values *found = vendor_find(others[i].gpu);
    cr_assert_not_null(found, "%s", others[i].gpu);
    cr_expect_eq(vendor_value(found, "copy_bandwidth"), others[i].bandwidth, "%s", others[i].gpu);
    cr_expect_eq(vendor_value(found, "fp32_fma"), others[i].fp32, "%s", others[i].gpu);
    cr_expect_eq(vendor_value(found, "tensor_wgmma_fp16"), others[i].tensor, "%s", others[i].gpu);
  }
  cr_expect_null(vendor_find("Emulated NVIDIA H200"));
  cr_expect_null(vendor_find("NVIDIA H200 NVL"));
}

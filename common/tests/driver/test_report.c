#define _GNU_SOURCE
#include "driver/report.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char header[] =
    "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,scale,inputs,seed,check,"
    "o_error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms,"
    "tflops,rounds,throttled_rounds,graph_ms,floor_ms,launches,blocks,threads,block_barriers,warp_"
    "collectives,tensor_core_operations,"
    "async_copy_bytes\n";

// A run on a GPU whose time makes the speed a round number: 4 * 4 * 8 * 512 * 512 * 64 operations.
static report on_gpu(void) {
  return (report){
      .step = "04_online_softmax",
      .summary = "one fused kernel",
      .device = "NVIDIA H200",
      .shape = {ATTENTION_FP16, 4, 8, 8, 512, 512, 64, false, 0.125f},
      .inputs = INPUTS_NORMAL,
      .seed = 1,
      .verdict = CHECK_PASSED,
      .check = {.o_error = 0.00021, .o_bound = 0.00098, .lse_error = 2.1e-7},
      .figures = {.times = {10, 150, 0.2147483648, 0.214, 0.2155, 0.2101, 0.25}},
      .floor = {0.0015, 0.0025, 0.0012},
  };
}

static report on_emulator(void) {
  report report = on_gpu();
  report.device = "Emulated NVIDIA H200";
  report.emulated = true;
  report.figures = (timing_figures){0};
  report.floor = timing_no_floor();
  report.counts = (device_counts){
      .launches = 1, .blocks = 4, .threads = 512, .block_barriers = 96, .warp_collectives = 2048};
  return report;
}

typedef void printer(FILE *, const report *);

typedef struct {
  char text[4096];
} printed;

static printed print(printer *printer, const report *report) {
  printed result = {""};
  FILE *out = fmemopen(result.text, sizeof result.text, "w");
  printer(out, report);
  fclose(out);
  return result;
}

static void expect_text(printer *printer, const report *report, const char *expected) {
  const printed result = print(printer, report);
  cr_expect_str_eq(result.text, expected, "printed:\n%s\nexpected:\n%s", result.text, expected);
}

Test(report, gpu) {
  const report report = on_gpu();
  expect_text(report_print, &report,
              "step       04_online_softmax: one fused kernel\n"
              "shape      batch 4, heads 8, seq 512, dim 64, fp16, scale 0.125\n"
              "inputs     normal, seed 1\n"
              "device     NVIDIA H200\n"
              "check      ok: largest error of O 0.00021, allowed 0.00098; of lse 2.1e-07, "
              "allowed 1e-05\n"
              "workspace  0 bytes\n"
              "time       median 0.2147 ms (95 % interval 0.2140 to 0.2155; 5th to 95th percentile "
              "0.2101 to 0.2500; 150 launches in 10 runs)\n"
              "speed      10.0 TFLOP/s\n");
}

Test(report, emulator) {
  const report report = on_emulator();
  expect_text(report_print, &report,
              "step       04_online_softmax: one fused kernel\n"
              "shape      batch 4, heads 8, seq 512, dim 64, fp16, scale 0.125\n"
              "inputs     normal, seed 1\n"
              "device     Emulated NVIDIA H200\n"
              "check      ok: largest error of O 0.00021, allowed 0.00098; of lse 2.1e-07, "
              "allowed 1e-05\n"
              "workspace  0 bytes\n"
              "counts     1 launch, 4 blocks, 512 threads, 96 block barriers, 2048 warp "
              "collectives\n");
}

Test(report, other_shapes_and_files) {
  report report = on_emulator();
  report.shape = (attention_shape){ATTENTION_BF16, 1, 8, 2, 33, 200, 128, true, 1.0f};
  report.source = "/tmp/try/04_online_softmax/attention.cu";
  report.q = "q.npy";
  report.k = "k.npy";
  report.v = "v.npy";
  report.verdict = CHECK_SKIPPED;
  report.workspace_bytes = 1;
  expect_text(report_print, &report,
              "step       04_online_softmax: one fused kernel\n"
              "source     /tmp/try/04_online_softmax/attention.cu\n"
              "shape      batch 1, heads 8, kv_heads 2, seq_q 33, seq_kv 200, dim 128, bf16, "
              "causal, scale 1\n"
              "inputs     q.npy, k.npy, v.npy\n"
              "device     Emulated NVIDIA H200\n"
              "check      skipped\n"
              "workspace  1 byte\n"
              "counts     1 launch, 4 blocks, 512 threads, 96 block barriers, 2048 warp "
              "collectives\n");
}

// Of a step that was not asked for lse there is no error to record, though the field holds 0.
Test(report, o_alone_on_several_gpus) {
  report report = on_emulator();
  report.o_alone = true;
  report.check.lse_error = 0;
  report.gpus = 4;
  const printed out = print(report_print, &report), csv = print(report_print_csv, &report);
  cr_expect(strstr(out.text, "\ninputs     normal, seed 1\ngpus       4\ndevice     Emulated "),
            "%s", out.text);
  cr_expect(strstr(out.text, "allowed 0.00098; lse was not asked for\n"), "%s", out.text);
  cr_expect(strstr(csv.text, ",ok,0.00021,0.00098,,0,"), "%s", csv.text);
}

Test(report, wrong_beyond_the_numbers) {
  report report = on_emulator();
  report.verdict = CHECK_FAILED;
  strcpy(report.check.message.text, "the step changed its input K");
  const printed out = print(report_print, &report);
  cr_expect(strstr(out.text, "\ncheck      FAILED: the step changed its input K\n"), "%s",
            out.text);
}

Test(report, wrong_result) {
  report report = on_gpu();
  report.verdict = CHECK_FAILED;
  report.check.o_error = NAN;
  report.check.o_bad = 1;
  report.figures = (timing_figures){0};
  expect_text(report_print, &report,
              "step       04_online_softmax: one fused kernel\n"
              "shape      batch 4, heads 8, seq 512, dim 64, fp16, scale 0.125\n"
              "inputs     normal, seed 1\n"
              "device     NVIDIA H200\n"
              "check      FAILED: largest error of O nan, allowed 0.00098; of lse 2.1e-07, "
              "allowed 1e-05\n"
              "workspace  0 bytes\n"
              "time       not taken: the result is wrong\n");
}

Test(report, times_have_no_exponent) {
  const struct {
    double median;
    const char *printed;
  } cases[] = {{0.002, "median 0.002000 ms"}, {0.0123456, "median 0.01235 ms"},
               {1.0, "median 1.000 ms"},      {12.3456, "median 12.35 ms"},
               {1234.56, "median 1235 ms"},   {123456.7, "median 123457 ms"},
               {0.99999, "median 1.0000 ms"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    report report = on_gpu();
    report.figures.times.median = cases[i].median;
    const printed out = print(report_print, &report);
    cr_expect(strstr(out.text, cases[i].printed), "%g gave:\n%s", cases[i].median, out.text);
  }
}

// The report says which share of a short time is not the kernel's, and why the GPU was slowed down.
Test(report, what_belongs_to_the_time) {
  report report = on_gpu();
  printed out = print(report_print, &report);
  cr_expect(!strstr(out.text, "floor") && !strstr(out.text, "graph") &&
                !strstr(out.text, "throttled"),
            "%s", out.text);
  report.figures.times.median = 0.0123;
  report.figures.graph = (statistics_summary){10, 10, 0.0112, 0.0111, 0.0113, 0.0111, 0.0113};
  report.figures.throttled_rounds = 3;
  out = print(report_print, &report);
  cr_expect(strstr(out.text, "\ngraph      0.01120 ms a launch, replayed\n"
                             "floor      0.002500 ms for an empty kernel, 0.001500 ms for nothing\n"
                             "throttled  in 3 of 10 runs: power or heat held the GPU back\n"),
            "%s", out.text);
  report.figures = (timing_figures){0};
  report.untimed = "it waits";
  out = print(report_print, &report);
  cr_expect(strstr(out.text, "\ntime       not taken: it waits\n"), "%s", out.text);
}

Test(report, one_run_has_no_interval) {
  report report = on_gpu();
  report.figures.times = (statistics_summary){1, 1, 0.5, NAN, NAN, 0.5, 0.5};
  const printed out = print(report_print, &report);
  cr_expect(strstr(out.text,
                   "\ntime       median 0.5000 ms (5th to 95th percentile 0.5000 to 0.5000; "
                   "1 launch in 1 run)\n"),
            "%s", out.text);
  const printed csv = print(report_print_csv, &report);
  cr_expect(strstr(csv.text, ",1,0.5,,,0.5,0.5,"), "%s", csv.text);
}

Test(report, speed_counts_what_the_mask_leaves) {
  report report = on_gpu();
  cr_expect_float_eq(result_tflops(&report.shape, &report.figures.times), 10.0, 1e-9);
  report.shape.causal = true; // 512 * 513 / 2 pairs of 512 * 512
  cr_expect_float_eq(result_tflops(&report.shape, &report.figures.times), 10.0 * 513 / 1024, 1e-9);
  report.figures.times.samples = 0;
  cr_expect(isnan(result_tflops(&report.shape, &report.figures.times)));
}

Test(report, csv) {
  char expected[2048];
  report report = on_gpu();
  snprintf(expected, sizeof expected,
           "%s04_online_softmax,NVIDIA H200,fp16,4,8,8,512,512,64,0,0.125,normal,1,ok,0.00021,"
           "0.00098,2.1e-07,0,150,0.214748365,0.214,0.2155,0.2101,0.25,10,10,0,,0.0025,,,,,,,\n",
           header);
  expect_text(report_print_csv, &report, expected);

  report = on_emulator();
  report.shape = (attention_shape){ATTENTION_BF16, 1, 8, 2, 33, 200, 128, true, 0.1f};
  report.q = "q.npy";
  report.verdict = CHECK_SKIPPED;
  report.workspace_bytes = 4096;
  snprintf(expected, sizeof expected,
           "%s04_online_softmax,Emulated NVIDIA H200,bf16,1,8,2,33,200,128,1,0.100000001,files,,"
           "skipped,,,,4096,,,,,,,,,,,,1,4,512,96,2048,0,0\n",
           header);
  expect_text(report_print_csv, &report, expected);

  report.verdict = CHECK_FAILED;
  report.check.o_error = NAN;
  const printed out = print(report_print_csv, &report);
  cr_expect(strstr(out.text, ",files,,FAILED,nan,0.00098,2.1e-07,4096,"), "%s", out.text);
}

// Reads the fields of a line; a quoted field may contain commas.
static size_t count_fields(const char *line) {
  size_t fields = 1;
  bool quoted = false;
  for (; *line && *line != '\n'; line++) {
    if (*line == '"') quoted = !quoted;
    if (*line == ',' && !quoted) fields++;
  }
  return fields;
}

Test(report, csv_has_a_value_for_every_name) {
  const char *const devices[] = {"NVIDIA H200", "A, B", "with \"quotes\", and commas", ""};
  for (int i = 0; i < 4 * 2 * 3 * 2; i++) {
    report report = i % 2 ? on_gpu() : on_emulator();
    report.verdict = (check_verdict)(i / 2 % 3);
    report.q = i / 6 % 2 ? "q.npy" : NULL;
    report.device = devices[i / 12];
    const printed out = print(report_print_csv, &report);
    const char *values = strchr(out.text, '\n') + 1;
    cr_expect_eq(strncmp(out.text, header, strlen(header)), 0, "%s", out.text);
    cr_expect_eq(count_fields(values), count_fields(header), "%s", out.text);
    cr_expect_str_eq(strchr(values, '\n'), "\n", "more than two lines: %s", out.text);
  }
  report report = on_gpu();
  report.device = "a \"b\", c";
  const printed out = print(report_print_csv, &report);
  cr_expect(strstr(out.text, "\n04_online_softmax,\"a \"\"b\"\", c\",fp16,"), "%s", out.text);
}

// Only steps that use them have these counts, so only those show them.
Test(report, counts_that_only_some_steps_have) {
  report report = on_emulator();
  report.counts.early_launches = 1;
  report.counts.tensor_core_operations = 128;
  report.counts.async_copy_bytes = 65536;
  report.counts.products_over_copies = 64;
  report.counts.products_in_the_first_half = 70;
  report.counts.collectives_under_products = 1;
  report.counts.named_barriers = 2;
  report.counts.product_groups_in_turns = 5;
  report.counts.repeated_arrivals = 128;
  report.counts.copies_behind_kernels = 3;
  memcpy(report.counts.grid, (unsigned[]){2, 1, 3}, sizeof report.counts.grid);
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  cr_assert_not_null(out);
  report_print(out, &report);
  fclose(out);
  cr_expect_not_null(
      strstr(text, ", 128 tensor-core products, 65536 bytes by cp.async, 64 products over "
                   "copies, 70 products in the first half of the blocks, 1 warp "
                   "collective under products, 2 named barriers, 5 groups of products in "
                   "turns, 128 repeated arrivals, 3 copies behind kernels, grid 2 x 1 x 3\n"),
      "%s", text);
  cr_expect_not_null(strstr(text, "1 launch, 1 early launch, "), "%s", text);
  free(text);
}

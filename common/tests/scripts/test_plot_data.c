// The awk programs of plots/: what they make of records, before gnuplot draws it.
#define _GNU_SOURCE
#include "recorded.h"

static void enter(void) {
  toolkit_enter();
  recorded_write_all();
}

TestSuite(plot_data, .init = enter, .fini = toolkit_leave);

// What a chart's program writes of some files, with tabs and line ends as blanks.
static script_result prepared(const char *chart, const char *files) {
  char command[512];
  snprintf(command, sizeof command,
           "cd " FOLDER "; root=../../..; awk -f $root/scripts/csv.awk -f $root/scripts/text.awk "
           "-f $root/plots/chart.awk -f $root/plots/%s.awk -v title=T -v head_dim=64 -v dtype=fp16 "
           "%s 2>&1 | tr '\\t\\n' '  '",
           chart, files);
  return toolkit_run(command);
}

static void expect_prepared(const char *chart, const char *files, const char *part) {
  const script_result result = prepared(chart, files);
  EXPECT(result, part);
}

Test(plot_data, speed_up_over_the_first_step) {
  const script_result result = prepared("speedup", "ladder.csv peers.csv");
  EXPECT(result, "0 1 1×", "1 4 4×", "2 40 40×", "3 40 40×\\n20 TFLOP/s SDPA\\nflash 1",
         "4 50 50×\\n25 TFLOP/s SDPA\\ncuDNN 1 END");
}

Test(plot_data, a_line_for_each_contender) {
  recorded_write("bench", BENCH TIMED("05_fused", SMALLER, "0", "1", "1", "1", "5"));
  const script_result result = prepared("scaling", "bench.csv peers.csv ceilings.csv");
  EXPECT(result, "512 0.25 1024 0.5", "512 10 1024 16", "1024 20", "1024 25", "panels = 2",
         "array line_name",
         "'01 plain', '05 fused', 'SDPA flash', 'SDPA cuDNN', "
         "'fp32 fma 30', 'mma fp16 100', '05 fused'",
         "array first_line[2] = [1, 7]", "array last_line[2] = [6, 9]",
         "', not causal', ', causal'");
}

Test(plot_data, what_is_quoted_has_a_line_of_its_own) {
  const script_result result = prepared("scaling", "bench.csv peers.csv quoted.csv");
  EXPECT(result, "512 30 1024 33", "'SDPA cuDNN', 'FlashAttention-3 (quoted)', '05 fused']",
         "array line_style[6] = [1, 5, 103, 104, 205, 5]");
  cr_expect_null(strstr(result.out, " 34 "), "the other dtype: %s", result.out);
}

Test(plot_data, a_panel_for_each_spread_of_scores) {
  const script_result result = prepared("spread", "spread.csv");
  EXPECT(result, "batch 4, seq 1024, fp16", "1 20 16 20 1 25 16 16 1 10 16 20 16 8 END",
         "panels = 2", "array line_style[5] = [5, 6, 103, 5, 6]", "array first_line[2] = [1, 4]",
         "array last_line[2] = [3, 5]",
         "', head_dim 64, random scores', ', head_dim 64, rising scores'",
         "array lengths[2] = [1, 16]", "shortest = 1 longest = 16 lowest = 6.4 highest = 31.25");
}

Test(plot_data, a_spread_without_a_time) {
  recorded_write("spread", SPREAD_HEADER "05_fused,Test GPU,fp16," LARGE ",1,0,FAILED,,," ORIGIN);
  expect_prepared("spread", "spread.csv", "nothing = 'No step was right and timed with");
}

Test(plot_data, operations_for_each_byte_of_dram) {
  // 4e10 operations; the second shape is not the ladder's, and the emulator knows no DRAM
  recorded_write("counts", COUNTS "05_fused,,Test GPU,fp16," SMALL ",ncu,,,,,,,,,,,,,7,7," ORIGIN);
  const script_result result = prepared("roofline", "ladder.csv counts.csv ceilings.csv");
  EXPECT(result, "slope = 1 vendor_slope = 1.25", "array level[2] = [100, 30]",
         "array vendor[1] = [40]", "array step_x[2] = [20, 20000]", "array step_y[2] = [0.5, 20]");
}

Test(plot_data, tensors_and_workspace_of_one_sequence) {
  // 4 tensors of 4 x 512 x 64 halves, and lse: 1,056,768 bytes; 33,554,432 / 8 more for scores
  const script_result result = prepared("memory", "bench.csv");
  EXPECT(result, "512 5251072 1024 18890752", "512 1056768 1024 2113536", "'step 01: ×3.6'");
}

Test(plot_data, steps_that_need_the_same_memory_share_a_line) {
  recorded_write("bench", BENCH TIMED("06_copied", LARGE, "0", "1", "1", "1", "5")
                              TIMED("07_more", LARGE, "0", "1", "1", "1", "5"));
  expect_prepared("memory", "bench.csv", "'step 01: ×3.6', 'steps 05 to 07: ×2.0']");
}

Test(plot_data, samples_in_percent_of_their_median) {
  const script_result result = prepared("latency", "bench-samples.csv");
  EXPECT(result, " 0 ", " 0.5 ", " -0.5 ", "$boxes", "0 -0.45 -0.25 0.25 0.45 n = 3 01\\nplain",
         "1 0 0 0 0 n = 1 05\\nfused", "lowest = -0.55");
}

// A line for each round: all samples of a step are in one box.
Test(plot_data, samples_of_all_rounds) {
  recorded_write("bench-samples",
                 SAMPLES_HEADER SAMPLED("01_plain", "80000.000") SAMPLED("05_fused", "2000.000")
                     SAMPLED("01_plain", "80400.000 79600.000"));
  const script_result result = prepared("latency", "bench-samples.csv");
  EXPECT(result, "0 -0.45 -0.25 0.25 0.45 n = 3 01\\nplain", "1 0 0 0 0 n = 1 05\\nfused");
}

Test(plot_data, samples_far_above_are_counted) {
  recorded_write("bench-samples", SAMPLES_HEADER SAMPLED(
                                      "01_plain", "9 10 10 10 10 10 10 10 10 10 10 10 10 10 10 "
                                                  "10 10 10 10 10 10 10 10 10 10 10 10 10 10 19"));
  expect_prepared("latency", "bench-samples.csv", "n = 30\\n1 above,\\nto +90 %");
}

Test(plot_data, configurations_by_speed) {
  recorded_write("sweep",
                 ROW_HEADER CONFIGURED("32x64x4x1", "4", "10") CONFIGURED("64x64x4x2", "2", "20"));
  expect_prepared("sweep", "sweep.csv",
                  "1 20 20 20 64x64x4x2 20 TFLOP/s, 2 ms 2 10 10 10 32x64x4x1");
}

Test(plot_data, shares_of_the_peers) {
  const script_result result = prepared("peers", "peers.csv");
  EXPECT(result, "1024 0.8 1024 0.64 END", "' as SDPA flash', ' as the best peer'");
}

Test(plot_data, counts_of_the_gpu_before_the_emulators) {
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("01_plain", "emulator", "3100", ""));
  expect_prepared("saves", "counts.csv", "counted by the GPU (ncu)");
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("01_plain", "emulator", "3100", "")
                                   COUNTED("02_tiled", "emulator", "310", ""));
  // sectors of loads and stores; wavefronts; no cp.async, no tensor cores; barriers. Of DRAM nobody knows.
  const script_result result = prepared("saves", "counts.csv");
  EXPECT(result, "counted by the emulator", "0 01 3140 ", " 3.14k 68 0 0 99 1 02 350 ",
         " 350 68 0 0 99 END");
}

// Groups move about their middle; the last case is pushed below the limit.
Test(plot_data, labels_are_moved_apart) {
  const struct {
    const char *places;
    const char *expected;
  } cases[] = {{"1 5 9", "1 5 9"},
               {"5 5", "4.5 5.5"},
               {"5.2 1 5 5.1", "6.1 1 4.1 5.1"},
               {"9.8 9.9", "9 10"},
               {"3 3.5 4.2", "2.56667 3.56667 4.56667"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char program[512];
    snprintf(program, sizeof program,
             "BEGIN { n = split(\"%s\", place, \" \"); spread(place, n, 1, 10); for (i = 1; i <= "
             "n; i++) "
             "printf \"%%s%%g\", (i > 1 ? \" \" : \"\"), place[i] }\n",
             cases[i].places);
    toolkit_write("labels.awk", program);
    const script_result result = toolkit_run("awk -f scripts/csv.awk -f scripts/text.awk -f "
                                             "plots/chart.awk -f labels.awk /dev/null 2>&1");
    cr_expect_str_eq(result.out, cases[i].expected, "%s: %s", cases[i].places, result.out);
  }
}

Test(plot_data, numbers_have_three_digits) {
  toolkit_write("numbers.awk", "BEGIN { print three_digits(0.5), three_digits(17.44), "
                               "three_digits(1043.2), count_text(0, \" \"), "
                               "count_text(4194304, \" \"), count_text(999600, \"\") }\n");
  const script_result result = toolkit_run("awk -f scripts/text.awk -f numbers.awk 2>&1");
  cr_expect_str_eq(result.out, "0.5 17.4 1043 0 4.19 M 1M\n", "%s", result.out);
}

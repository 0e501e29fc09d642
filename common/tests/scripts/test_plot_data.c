// The awk programs of plots/: the data that they compute from records, before gnuplot draws it.
#define _GNU_SOURCE
#include "prepared.h"

static void enter(void) {
  toolkit_enter();
  recorded_write_all();
}

TestSuite(plot_data, .init = enter, .fini = toolkit_leave);

Test(plot_data, speed_up_over_the_first_step) {
  const script_result result = prepared("speedup", "ladder.csv peers.csv");
  EXPECT(result, "heading = 'Speed-up over step 01 plain'", "1 1 1 1 1 1 01 plain 1× 0.5 TFLOP/s",
         "2 1 4 4 4 2 02 tiled 4×", "3 1 40 40 40 5 05 fused 40×", "103 SDPA flash 40× 20 TFLOP/s",
         "104 SDPA cuDNN 50× 25 TFLOP/s", "END", "array lowest[1] = [0.769231]");
}

// Bars begin at 1, and a slower step's ends on the other side. The base is the first step, or the chosen one.
Test(plot_data, the_base_of_speed_ups) {
  recorded_write("ladder", ROW_HEADER TIMED("05_fused", LARGE, "0", "2", "2", "2", "20")
                               TIMED("06_copied", LARGE, "0", "4", "4", "4", "10"));
  script_result result = prepared("speedup", "ladder.csv");
  EXPECT(result, "heading = 'Speed-up over step 05 fused'", "2 1 0.5 0.5 0.5 6 06 copied 0.5×",
         "array lowest[1] = [0.384615]");
  result = prepared("speedup", "-v base_chosen=sdpa_cudnn ladder.csv peers.csv");
  EXPECT(result, "heading = 'Speed-up over SDPA cuDNN'", "1 1 0.8 0.8 0.8 5 05 fused 0.8×");
  expect_prepared("speedup", "-v base_chosen=07 ladder.csv",
                  "nothing = 'The base 07 has no time at the ladder''s shape.'");
}

// A line for each number of GPUs that was measured, and dotted lines of the model. With 2 GPUs the copies take 0.671 in
// all, and an eighth of them is not hidden: 100 * 2 / (0.671 / 8 + 2 + 0.1) = 91.6 %. With a mask products take half as long,
// and the third slice, with the half of the copies, comes too late: 100 * 1 / (0.671 / 2 + 3 / 4 + 0.1) = 84.3 %.
Test(plot_data, several_gpus_measured_and_computed) {
  recorded_write("groups", GROUPS);
  const script_result result = prepared("groups", "-f $root/scripts/group_model.awk groups.csv");
  EXPECT(result, "link 100 GB/s measured, 50 GB/s between hosts quoted", "23 far, 2 GPUs",
         "23 far, 4 GPUs", "model, 2 GPUs", "model, 4 GPUs", "model, 64, quoted link");
  cr_expect_null(strstr(result.out, "model, 8"), "8 GPUs were not measured: %s", result.out);
  EXPECT(result, "16384 80");
  EXPECT(result, "16384 91.5799 91.5799", "16384 84.3494 84.3494");
  // A step has another marker for each number of GPUs; the model's lines are dotted, and have none.
  EXPECT(result, "line_marker[8] = [6, 7, 0, 0, 0, 0, 0, 0]");
}

// With the copies alone, at twice the bandwidth, they take half as long: 100 * 2 / (0.3355 / 8 + 2 + 0.1) = 93.4 %.
Test(plot_data, the_copies_alone_tell_the_bandwidth) {
  recorded_write(
      "groups",
      GROUPS OF_GROUP("copies_alone", "2", "8192", "0", "skipped", "0.2", "", "33554432")
          OF_GROUP("copies_alone", "2", "16384", "0", "skipped", "0.36777216", "", "67108864"));
  const script_result result = prepared("groups", "-f $root/scripts/group_model.awk groups.csv");
  EXPECT(result, "link 200 GB/s measured, 50 GB/s between hosts quoted");
  EXPECT(result, "16384 93.3732 93.3732");
}

Test(plot_data, several_gpus_with_intervals_and_throttled_rounds) {
  recorded_write("groups", GROUPS_WITH_LINK);
  const script_result result = prepared("groups", "-f $root/scripts/group_model.awk groups.csv");
  EXPECT(result, "note = 'Ring or star: power or heat held the GPU back.'", "16384 80 79 81.2 1 ");
}

#define PAIRED_HEADER                                                                              \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,median_ms,ci_low_ms," \
  "ci_high_ms,tflops,throttled,base_step,speedup_low,speedup_high,commit,date\n"
#define PAIRED(step, median, tflops, throttled, low, high)                                         \
  step ",Test GPU,fp16," LARGE ",ok," median "," median "," median "," tflops "," throttled        \
       ",01_plain," low "," high "," ORIGIN

// Ratios of one round have intervals of their own, and a row says that the GPU was held back.
Test(plot_data, intervals_of_pairs_and_throttled_rows) {
  recorded_write("ladder", PAIRED_HEADER PAIRED("01_plain", "80", "0.5", "0", "1", "1")
                               PAIRED("05_fused", "2", "20", "1", "38", "41"));
  recorded_write("bench", PAIRED_HEADER PAIRED("01_plain", "80", "0.5", "0", "1", "1")
                              PAIRED("05_fused", "2", "20", "1", "38", "41"));
  script_result result = prepared("speedup", "ladder.csv");
  EXPECT(result, "note = 'Ring or star: power or heat held the GPU back.'",
         "1 1 1 1 1 1 01 plain 1×", "2 1 40 38 41 5 05 fused 40×* 20 TFLOP/s 41");
  result = prepared("speedup-by-length", "bench.csv");
  EXPECT(result, "note = 'Ring or star", "1024 1 1 1 0 1024 40 38 41 1 END");
  result = prepared("scaling", "bench.csv");
  EXPECT(result, "note = 'Ring or star", "1024 20 20 20 1 ");
}

// Pairs come from one file if there are any: cuDNN of peers.csv with the step of peers.csv.
Test(plot_data, speed_up_by_length) {
  script_result result = prepared("speedup-by-length", "bench.csv peers.csv");
  EXPECT(result, "heading = 'Speed-up over step 01 plain by sequence length'",
         "512 1 1 1 0 1024 1 1 1 0", "512 40 39 41 0 1024 40 39.5 40.5 0",
         "1024 40 39.5 40.5 0 1024 50 49.375 50.625 0 END",
         "'01 plain', '05 fused', 'SDPA flash', 'SDPA cuDNN']", "linear[1] = [0]");
  result = prepared("speedup-by-length",
                    "-v base_chosen=sdpa_cudnn -v axis_chosen=linear bench.csv peers.csv");
  EXPECT(result, "Speed-up over SDPA cuDNN", "1024 0.02 ", "1024 0.64 0.64 0.64 0", "1024 0.8 ",
         "1024 1 1 1 0 END", "linear[1] = [1]");
  expect_prepared("speedup-by-length", "-v base_chosen=99 bench.csv",
                  "nothing = 'The base 99 has no");
}

Test(plot_data, steps_that_are_chosen) {
  script_result result = prepared("scaling", "-v steps_chosen=5,09 bench.csv peers.csv");
  EXPECT(result, "note = ' Nothing usable is recorded for step 09.'",
         "array line_name[7] = ['05 fused', 'SDPA flash', 'SDPA cuDNN', 'SDPA flash',");
}

// The reader's own steps stand beside the record's: new ones always, others if they are chosen, peers never.
Test(plot_data, own_steps_beside_the_record) {
  recorded_write("own", ROW_HEADER TIMED("05_fused", LARGE, "0", "1", "1", "1", "40")
                            TIMED("30_mine", LARGE, "0", "4", "4", "4", "10")
                                TIMED("sdpa_cudnn", LARGE, "0", "2", "2", "2", "20"));
  script_result result =
      prepared("speedup-by-length", "-v base_chosen=sdpa_cudnn bench.csv peers.csv own=1 own.csv");
  EXPECT(result, "1024 0.5 0.5 0.5 0 END",
         "'01 plain', '05 fused', 'SDPA flash', 'SDPA cuDNN', '30 mine (own)']", "330]");
  result = prepared("scaling", "-v steps_chosen=05 bench.csv own=1 own.csv");
  EXPECT(result, "'05 fused', '05 fused (own)'");
  cr_expect_null(strstr(result.out, "30 mine"), "%s", result.out);
}

// Each step against the multipliers that it uses.
Test(plot_data, share_of_a_ceiling) {
  const script_result result = prepared("ceiling-share", "bench.csv ceilings.csv");
  EXPECT(result, "ceilings in TFLOP/s: fp32 fma 30, mma fp16 100'", "512 0.833333 ",
         "1024 1.66667 ", "512 10 10 10 0 1024 20 20 20 0", "highest[2] = [105, 105]");
}

Test(plot_data, a_line_for_each_contender) {
  recorded_write("bench", BENCH TIMED("05_fused", SMALLER, "0", "1", "1", "1", "5"));
  const script_result result = prepared("scaling", "bench.csv peers.csv ceilings.csv");
  EXPECT(result, "heads 4, batch 8 at seq 512 to 4 at 1024",
         "512 0.25 0.243902 0.25641 0 1024 0.5 ", "512 10 10 10 0 1024 16 16 16 0", "1024 20",
         "1024 25", "panels = 4", "array line_name",
         "'01 plain', '05 fused', 'SDPA flash', 'SDPA cuDNN', "
         "'fp32 fma 30', 'mma fp16 100', 'SDPA flash', 'SDPA cuDNN'",
         "array first_line[4] = [1, 7, 11, 14]", "array last_line[4] = [6, 10, 13, 16]",
         "', not causal', ', not causal: the faster half', ', causal'", "linear[4] = [0, 1, 0, 1]");
}

Test(plot_data, what_is_quoted_has_a_line_of_its_own) {
  const script_result result = prepared("scaling", "bench.csv peers.csv quoted.csv");
  EXPECT(result, "512 30 30 30 0 1024 33 33 33 0", "'SDPA cuDNN', 'FlashAttention-3 (quoted)', ",
         "array line_style[10] = [1, 5, 103, 104, 205, 103, 104, 205, 5, 5]");
  cr_expect_null(strstr(result.out, " 34 "), "the other dtype: %s", result.out);
}

Test(plot_data, a_panel_for_each_spread_of_scores) {
  const script_result result = prepared("spread", "spread.csv");
  EXPECT(result, "batch 4, seq 1024, fp16", "1 20 20 20 0 16 20 20 20 0",
         "1 25 25 25 0 16 16 16 16 0", "16 8 8 8 0 END", "panels = 2",
         "array line_style[5] = [5, 6, 103, 5, 6]", "array first_line[2] = [1, 4]",
         "array last_line[2] = [3, 5]",
         "', head_dim 64, random scores', ', head_dim 64, rising scores'", "linear[2] = [1, 1]",
         "highest[2] = [26.25, 26.25]", "array lengths[2] = [1, 16]", "shortest = 1 longest = 16");
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
  EXPECT(result, "512 5251072 5251072 5251072 0 1024 18890752 ", "512 1056768 ", "1024 2113536 ",
         "'step 01: ×3.6'");
}

Test(plot_data, steps_that_need_the_same_memory_share_a_line) {
  recorded_write("bench", BENCH TIMED("06_copied", LARGE, "0", "1", "1", "1", "5")
                              TIMED("07_more", LARGE, "0", "1", "1", "1", "5")
                                  TIMED("24_last", LARGE, "0", "1", "1", "1", "5"));
  // Not "05 to 24": nothing is known of the steps between 07 and 24.
  expect_prepared("memory", "bench.csv", "'step 01: ×3.6', 'steps 05 to 07, 24: ×2.0']");
}

Test(plot_data, samples_in_percent_of_their_median) {
  const script_result result = prepared("latency", "bench-samples.csv");
  EXPECT(result, " 0 ", " 0.5 ", " -0.5 ", "$boxes",
         "1 -0.45 -0.25 0.25 0.45 1 01 plain median 80 ms, n = 3",
         "2 0 0 0 0 5 05 fused median 2 ms, n = 1", "lowest = -0.55");
}

// There is a line for each round: all samples of a step are in one box.
Test(plot_data, samples_of_all_rounds) {
  recorded_write("bench-samples",
                 SAMPLES_HEADER SAMPLED("01_plain", "80000.000") SAMPLED("05_fused", "2000.000")
                     SAMPLED("01_plain", "80400.000 79600.000"));
  const script_result result = prepared("latency", "bench-samples.csv");
  EXPECT(result, "1 -0.45 -0.25 0.25 0.45 1 01 plain median 80 ms, n = 3",
         "2 0 0 0 0 5 05 fused median 2 ms, n = 1");
}

Test(plot_data, samples_far_above_are_counted) {
  recorded_write("bench-samples", SAMPLES_HEADER SAMPLED(
                                      "01_plain", "9 10 10 10 10 10 10 10 10 10 10 10 10 10 10 "
                                                  "10 10 10 10 10 10 10 10 10 10 10 10 10 10 19"));
  expect_prepared("latency", "bench-samples.csv", "median 10 us, n = 30; 1 above, to +90 %");
}

Test(plot_data, shares_of_the_peers) {
  const script_result result = prepared("peers", "peers.csv");
  EXPECT(result, "1024 0.8 0.8 0.8 0 1024 0.64 0.64 0.64 0 END",
         "' as SDPA flash', ' as the best peer'");
}

Test(plot_data, counts_of_the_gpu_before_the_emulators) {
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("01_plain", "emulator", "3100", ""));
  expect_prepared("saves", "counts.csv", "counted by the GPU (ncu)");
  // ncu has not counted barriers: of two sources with one step each the other one comes first.
  recorded_write("counts",
                 COUNTS_HEADER COUNTED("01_plain", "emulator", "3100",
                                       "") "01_plain,,Test GPU,fp16," LARGE
                                           ",ncu,100,3200,10,40,50,60,7,8,0,0,,1,5,5," ORIGIN);
  expect_prepared("saves", "counts.csv", "counted by the emulator");
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("01_plain", "emulator", "310000", "")
                                   COUNTED("02_tiled", "emulator", "200000", ""));
  // sectors of loads and stores; wavefronts; no cp.async, no tensor cores; barriers. Nothing is known of DRAM.
  const script_result result = prepared("saves", "counts.csv");
  EXPECT(result, "counted by the emulator", "1 100000 310040 310040 310040 1 01 plain 310 k ",
         "2 100000 200040 ", "02 tiled 200 k", "01 plain 68 ", "01 plain 0 ", "01 plain 0 ",
         "01 plain 99 ", "END", "panel_title[5]");
}

// A row of a configuration that was asked for is no bar of the step.
Test(plot_data, counts_of_another_configuration) {
  recorded_write("counts", COUNTS_HEADER COUNTED(
                               "01_plain", "emulator", "310000",
                               "") "01_plain,64x64x4,Test GPU,fp16," LARGE
                                   ",emulator,100,777000,10,40,50,60,7,8,0,0,,1,5,5," ORIGIN);
  const script_result result = prepared("saves", "counts.csv");
  EXPECT(result, "01 plain 310 k ");
  cr_expect_null(strstr(result.out, "777"), "%s", result.out);
}

// Fewer sectors than the tensors have: TMA brought them, and the counters of loads and shared memory saw nothing.
Test(plot_data, counters_that_do_not_see_a_step) {
  recorded_write("counts", COUNTS_HEADER COUNTED("06_copied", "ncu", "310000", "5")
                               COUNTED("11_tma", "ncu", "0", "5"));
  const script_result result = prepared("saves", "counts.csv");
  EXPECT(result, "Not seen: TMA and wgmma pass by this counter.", "06 copied 310 k",
         "11 tma not seen", "11 tma 10 ", "06 copied 68", "11 tma not seen", "11 tma not seen",
         "11 tma 0 ", "END");
}

// An axis has two ticks at least, powers of ten, also where the counts are near each other.
Test(plot_data, counts_have_a_scale) {
  recorded_write("counts", COUNTS_HEADER COUNTED("06_copied", "ncu", "310000", "5"));
  expect_prepared("saves", "counts.csv", "[97087.4, ");
  expect_prepared("saves", "counts.csv", "[1000000, ");
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
    const script_result result =
        toolkit_run("awk -f scripts/csv.awk -f scripts/text.awk -f "
                    "plots/chart.awk -f plots/choice.awk -f labels.awk /dev/null 2>&1");
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

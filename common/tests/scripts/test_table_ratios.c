// scripts/tables.sh: tables whose rows are compared with others, by ratios with intervals.
#define _GNU_SOURCE
#include "tables.h"

TestSuite(table_ratios, .init = tables_enter, .fini = toolkit_leave);

// Records of today hold ratios from pairs of one round, with an interval, and say what held the GPU back.
#define PAIRED_HEADER                                                                              \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,workspace_bytes,"     \
  "median_ms,ci_low_ms,ci_high_ms,tflops,throttled,graph_ms,floor_ms,base_step,speedup,"           \
  "speedup_low,speedup_high,speedup_before,speedup_before_low,speedup_before_high,share_flash,"    \
  "share_flash_low,share_flash_high,share_best,share_best_low,share_best_high,commit,date\n"
#define PAIRED(step, shape, times, throttled, ratios)                                              \
  step ",Test GPU,fp16," shape ",ok,0," times "," throttled "," ratios "," ORIGIN

Test(table_ratios, ratios_have_intervals) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/ladder-again.csv").status, 0);
  recorded_write("ladder", PAIRED_HEADER PAIRED("01_plain", LARGE, "80,79.5,80.5,0.5", "0,,0.002",
                                                "01_plain,1,1,1,,,,,,,,,")
                               PAIRED("05_fused", LARGE, "2,1.996,2.004,20", "1,,0.002",
                                      "01_plain,39.5,39.25,39.75,9.5,9.25,9.75,,,,,,"));
  recorded_write("peers",
                 PAIRED_HEADER PAIRED("05_fused", LARGE, "2.5,2.5,2.5,16", "0,,0.002",
                                      "05_fused,1,1,1,,,,0.81,0.80,0.82,0.481,0.475,0.49")
                     PAIRED("sdpa_flash", LARGE, "2,2,2,20", "0,,0.002", ",,,,,,,1,1,1,0.5,,"));
  const script_result result = filled(BLOCK("ladder test-gpu") BLOCK("step test-gpu 05"));
  EXPECT(result,
         "| 05 fused | | 2.000 [1.996, 2.004], throttled | 20.0 | 39.5 [39.2, 39.8] | 9.50 [9.25, "
         "9.75] | 0 B | 0.81 [0.80, 0.82] | 0.48 [0.47, 0.49] | stop and profile |\n",
         "| 2.000 [1.996, 2.004], throttled | 20.0 | 9.50 [9.25, 9.75] | 39.5 [39.2, 39.8] |\n");
}

// A step that chooses another tile than the step before is compared with it in one tile as well.
Test(table_ratios, one_tile) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/ladder-again.csv").status, 0);
  recorded_write("ladder",
                 "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
                 "workspace_bytes,median_ms,tflops,speedup_before,speedup_before_low,"
                 "speedup_before_high,same_configuration,speedup_same,speedup_same_low,"
                 "speedup_same_high,commit,date\n"
                 "01_plain,Test GPU,fp16," LARGE ",ok,0,80,0.5,,,,,,,," ORIGIN
                 "05_fused,Test GPU,fp16," LARGE
                 ",ok,0,2,20,9.5,9.25,9.75,64x32x4,1.25,1.2,1.3," ORIGIN);
  const script_result result = filled(BLOCK("ladder test-gpu") BLOCK("step test-gpu 05"));
  EXPECT(result, "| × before | × before, same tile | workspace |",
         "| 01 plain | | 80.00 | 0.500 | 1.00 | | | 0 B |",
         "| 9.50 [9.25, 9.75] | 1.25 [1.20, 1.30] in 64x32x4 | 0 B |",
         "| × the step before | × the step before, same tile | × step 01 |",
         "| 9.50 [9.25, 9.75] | 1.25 [1.20, 1.30] in 64x32x4 | 40.0 |");
}

// Beside the step itself, in the words of the patch as it is today.
#define VARIED(step, variant, times, ratio)                                                        \
  step "," variant ",Test GPU,fp16," LARGE ",ok," times "," ratio "," ORIGIN

#define VARIANTS_HEADER                                                                            \
  "step,variant,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,median_ms,"   \
  "ci_low_ms,ci_high_ms,tflops,base_step,speedup,speedup_low,speedup_high,commit,date\n"

// The commit under the table is that of the step's own rows, and the files are those that have such rows.
Test(table_ratios, variants_of_a_step) {
  const script_result none = filled(BLOCK("variants test-gpu 05"));
  EXPECT(none, "Not recorded yet: `" FOLDER "/variants.csv` (`make variants RECORD=1`,");
  recorded_write("variants-dim128",
                 VARIANTS_HEADER VARIED("04_other", "", "2,2,2,20", "04_other,1,1,1"));
  recorded_write("variants", VARIANTS_HEADER
                 "04_other,no_pad,Test GPU,fp16," LARGE
                 ",ok,9,9,9,1,04_other,0.5,0.5,0.5,older,2025-01-02T03:04:05Z\n" VARIED(
                     "05_fused", "", "2,1.996,2.004,20", "05_fused,1,1,1")
                     VARIED("05_fused", "no_pad", "4,3.992,4.008,10", "05_fused,0.5,0.49,0.51")
                         VARIED("05_fused", "no_more", "2,1.996,2.004,20", "05_fused,1,0.99,1.01"));
  cr_assert_eq(toolkit_run("mkdir -p steps/05_fused/variants").status, 0);
  toolkit_write("steps/05_fused/variants/no_pad.patch",
                "Title: Rows lie side by side\nExpect: Slower, as all\n  banks are one. \n\n"
                "--- a/x\nTitle: not this\n");
  const script_result result = filled(BLOCK("variants test-gpu 05"));
  EXPECT(
      result,
      "The row of the step has its times, in ms.\n\n"
      "| variant | what was expected | batch 4, heads 4, seq 1024, head_dim 64, fp16 |\n",
      "| the step itself | | 2.000 [1.996, 2.004] |\n",
      "| [no_pad](variants/no_pad.patch): Rows lie side by side | Slower, as all banks are one. | "
      "0.50 [0.49, 0.51] |\n\n### What did not help\n\nParts without "
      "which the step is nowhere slower, "
      "and additions that are nowhere faster.\n\n| variant | what",
      "| the step itself | | 2.000", "| [no_more](variants/no_more.patch): | | 1.00 [0.99, 1.01] |",
      "\n\nTest GPU, commit abc1234, 2026-01-02: `variants.csv` in `" FOLDER "`.\n");
  cr_expect_null(strstr(result.out, "9.000"), "%s", result.out);
  const script_result other = filled(BLOCK("variants test-gpu 07"));
  EXPECT(other,
         "The variants of this step have not been recorded yet: `make step07 variants RECORD=1`");
}

// The step is nowhere faster than `equal`, and `adds` is nowhere faster than the step. `once` is slower in one of two
// problems, `better` adds something and is faster, and `failed` has no time: none of them is called no help.
Test(table_ratios, variants_that_did_not_help) {
  static const char *const additions[] = {"adds", "better"};
  for (int i = 0; i < 2; i++) {
    char path[64];
    cr_assert_eq(toolkit_run("mkdir -p steps/05_fused/variants").status, 0);
    snprintf(path, sizeof path, "steps/05_fused/variants/%s.patch", additions[i]);
    toolkit_write(path, "Title: more\nExpect: No faster\nKind: addition\n\n--- a/x\n");
  }
  recorded_write("variants",
                 VARIANTS_HEADER VARIED("05_fused", "", "2,2,2,20", "05_fused,1,1,1")
                     VARIED("05_fused", "adds", "4,4,4,10", "05_fused,0.5,0.49,0.51")
                         VARIED("05_fused", "better", "1,1,1,40", "05_fused,2,1.9,2.1")
                             VARIED("05_fused", "equal", "2,2,2,20", "05_fused,0.99,0.98,1.00")
                                 VARIED("05_fused", "once", "2,2,2,20", "05_fused,1,0.99,1.01")
                                     VARIED("05_fused", "failed", ",,,", "05_fused,,,"));
  recorded_write("variants-causal", VARIANTS_HEADER
                 "05_fused,,Test GPU,fp16," MASKED ",ok,2,2,2,20,05_fused,1,1,1," ORIGIN
                 "05_fused,once,Test GPU,fp16," MASKED ",ok,4,4,4,10,05_fused,0.5,0.5,0.5," ORIGIN);
  const script_result result = filled(BLOCK("variants test-gpu 05"));
  // The table of the others has no column for the problem that they were not tried on.
  EXPECT(result, "head_dim 64, fp16 | ", "fp16, causal |\n", "| the step itself | | 2.000 ",
         " | 2.000 ", "| [better](", "| 2.00 [1.90, 2.10] | |\n", "| [once](",
         "| 1.00 [0.99, 1.01] | 0.50 [0.50, 0.50] |\n", "| [failed](", "| not timed | |\n",
         "### What did not help\n\nParts ", "head_dim 64, fp16 |\n", "| the step itself | | 2.000 ",
         "| [adds](", "more | No faster | 0.50 ", "| [equal](",
         "| 0.99 [0.98, 1.00] |\n\nTest GPU");
}

// Rows with another scale or other inputs than most are of another problem, which the table names.
Test(table_ratios, variants_on_other_data) {
#define DATA_HEADER                                                                                \
  "step,variant,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,inputs,scale,"      \
  "check,"                                                                                         \
  "median_ms,ci_low_ms,ci_high_ms,tflops,base_step,speedup,speedup_low,speedup_high,commit,date\n"
#define ON_DATA(name, data, times)                                                                 \
  "05_fused," name ",Test GPU,fp16," LARGE "," data ",ok," times "," ORIGIN
  recorded_write("variants",
                 DATA_HEADER ON_DATA("", "normal,0.125", "2,2,2,20,05_fused,1,1,1")
                     ON_DATA("no_pad", "normal,0.125", "4,4,4,10,05_fused,0.5,0.5,0.5"));
  recorded_write("variants-causal",
                 DATA_HEADER ON_DATA("", "large,0.125", "2,2,2,20,05_fused,1,1,1")
                     ON_DATA("no_pad", "large,0.125", "4,4,4,10,05_fused,0.4,0.4,0.4"));
  recorded_write("variants-spread",
                 DATA_HEADER ON_DATA("", "normal,0.5", "2,2,2,20,05_fused,1,1,1")
                     ON_DATA("no_pad", "normal,0.5", "4,4,4,10,05_fused,0.6,0.6,0.6"));
  const script_result result = filled(BLOCK("variants test-gpu 05"));
  EXPECT(result, "head_dim 64, fp16 | ", "head_dim 64, fp16, inputs large | ",
         "head_dim 64, fp16, scale 0.5 |\n", "| [no_pad](",
         "| 0.50 [0.50, 0.50] | 0.40 [0.40, 0.40] | 0.60 [0.60, 0.60] |\n");
}

// In their order, from the step before to the step; a source that the step has no more is left out.
Test(table_ratios, substeps_of_a_step) {
  recorded_write("substeps",
                 VARIANTS_HEADER VARIED("05_fused", "", "2,1.996,2.004,20", "05_fused,1,1,1")
                     VARIED("05_fused", "0_the_step_before", "8,8,8,5", "05_fused,0.25,0.25,0.25")
                         VARIED("05_fused", "1_first", "4,4,4,10", "05_fused,0.5,0.49,0.51")
                             VARIED("05_fused", "2_gone", "2,2,2,20", "05_fused,1,0.99,1.01"));
  cr_assert_eq(toolkit_run("mkdir -p steps/05_fused/substeps").status, 0);
  toolkit_write("steps/05_fused/substeps/1_first.patch",
                "Title: Rows lie side by side\nExpect: Faster\n--- a/x\n");
  const script_result result = filled(BLOCK("substeps test-gpu 05"));
  EXPECT(result, "| source | batch 4, heads 4, seq 1024, head_dim 64, fp16 |\n",
         "| the step before | 0.25 [0.25, 0.25] |\n"
         "| [1_first](substeps/1_first.patch): Rows lie side by side | 0.50 [0.49, 0.51] |\n"
         "| the step itself, behind the last substep | 2.000 [1.996, 2.004] |\n",
         "\nTest GPU, commit abc1234, 2026-01-02: `substeps.csv` in `" FOLDER "`.\n");
  cr_expect_null(strstr(result.out, "2_gone"), "%s", result.out);
  const script_result other = filled(BLOCK("substeps test-gpu 07"));
  EXPECT(other,
         "The substeps of this step have not been recorded yet: `make step07 substeps RECORD=1`");
}

// A ladder that begins elsewhere says where.
Test(table_ratios, a_ladder_without_step_01_names_its_base) {
  recorded_write("ladder",
                 PAIRED_HEADER PAIRED("07_x", LARGE, "2,2,2,20", "0,,", "07_x,1,1,1,,,,,,,,,"));
  const script_result result = filled(BLOCK("ladder test-gpu"));
  EXPECT(result, "| × step 07 | × before |");
}

// Below 20 microseconds stands the time in a replayed graph, and what an empty kernel takes.
Test(table_ratios, the_floor_of_short_times) {
  recorded_write("ladder", PAIRED_HEADER PAIRED("05_fused", LARGE, "0.0123,0.0122,0.0124,20",
                                                "0,0.0111,0.0023", "05_fused,1,1,1,,,,,,,,,")
                               PAIRED("06_copied", LARGE, "0.0223,0.0222,0.0224,20",
                                      "0,0.0211,0.0023", "05_fused,1,1,1,,,,,,,,,"));
  const script_result result = filled(BLOCK("ladder test-gpu"));
  EXPECT(
      result,
      "| 0.01230 [0.01220, 0.01240], in a replayed graph 0.01110; an empty kernel takes 0.00230 |",
      "| 0.02230 [0.02220, 0.02240] |");
}

// The fastest step beside the fastest peer, and whether the lab is behind.
Test(table_ratios, shapes_of_users) {
  recorded_write(
      "shapes",
      PAIRED_HEADER PAIRED("05_fused", LARGE, "2.5,2.5,2.5,16", "0,,",
                           "05_fused,1,1,1,,,,,,,0.5,0.49,0.51")
          PAIRED("06_copied", LARGE, "2,2,2,20", "0,,", "05_fused,1,1,1,,,,,,,0.8,0.79,0.81")
              PAIRED("sdpa_flash", LARGE, "1.6,1.6,1.6,25", "0,,", ",,,,,,,1,1,1,1,1,1")
                  PAIRED("sdpa_cudnn", LARGE, "3,3,3,12", "0,,", ",,,,,,,1,1,1,0.5,,") PAIRED(
                      "05_fused", MASKED, "1,1,1,30", "0,,", "05_fused,1,1,1,,,,,,,1.01,0.99,1.03")
                      PAIRED("sdpa_flash", MASKED, "1.1,1.1,1.1,29", "0,,", ",,,,,,,1,1,1,1,1,1"));
  const script_result result = filled(BLOCK("shapes test-gpu"));
  EXPECT(
      result,
      "| batch 4, heads 4, seq 1024, head_dim 64, fp16 | 06 copied | 2.000 [2.000, 2.000] | 20.0 "
      "| SDPA flash | 1.600 [1.600, 1.600] | 25.0 | 0.80 [0.79, 0.81] | behind |\n",
      "fp16, causal | 05 fused | 1.000 [1.000, 1.000] | 30.0 | SDPA flash | 1.100 [1.100, 1.100] | "
      "29.0 | 1.01 [0.99, 1.03] | level |\n");
}

// Of a step that was added to the file later, and of one that was wrong.
Test(table_ratios, the_step_before_by_its_number) {
  recorded_write("spread", SPREAD_HEADER SPREAD_OVER("1,0", "06_copied", "1", "40")
                               SPREAD_OVER("1,0", "05_fused", "2", "20")
                                   SPREAD_OVER("1,0", "01_plain", "80", "0.5")
                                       SPREAD_OVER("8,0", "05_fused", "2", "20") //
                 "06_copied,Test GPU,fp16," LARGE
                 ",8,0,FAILED,,," ORIGIN SPREAD_OVER("16,0", "06_copied", "1", "40")
                     SPREAD_OVER("16,0", "01_plain", "80", "0.5") //
                 "05_fused,Test GPU,fp16," LARGE ",16,0,FAILED,,," ORIGIN);
  const script_result result = filled(BLOCK("spread test-gpu 06"));
  EXPECT(result, "deviation | 1 | 8 | 16 |",
         "| head_dim 64, fp16 | 40.0 (2.00) | FAILED | 40.0 (80.00) |");
}

// Of the two shapes of one length the larger counts. A row beside another step than the one before does not.
#define BESIDE(step, shape, before) step ",Test GPU,fp16," shape ",ok,2,20," before "," ORIGIN
Test(table_ratios, the_step_before_by_length) {
  recorded_write(
      "peers",
      "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,median_ms,tflops,"
      "before_step,speedup_before,commit,date\n" //
      BESIDE("02_tiled", LARGE, "01_plain,1.5") BESIDE("02_tiled", MASKED, "01_plain,0.987")
          BESIDE("02_tiled", SMALL, "01_plain,1.25") BESIDE("02_tiled", SMALLER, "01_plain,3")
              BESIDE("05_fused", LARGE, "02_tiled,7"));
  const script_result result = filled(BLOCK("lengths test-gpu 02 fp16"));
  EXPECT(result, "| × the step before, fp16; seq | 512 | 1024 |\n|---|---:|---:|\n"
                 "| head_dim 64 | 1.25 | 1.50 |\n| head_dim 64, causal | | 0.99 |\n");
  const script_result other = filled(BLOCK("lengths test-gpu 05 fp16"));
  EXPECT(other, "No row of this kind is recorded: `make peers`");
}

// A stamp behind bar.sync says 2 clocks, and the next one shows that the warp waited until then.
Test(table_ratios, a_wait_for_the_block_lasts_to_the_next_event) {
  recorded_write("timeline", TIMELINE_HEADER EVENT("0", "0", "queue_scores", "7", "10")
                                 EVENT("100", "300", "product_wait", "", "11")
                                     EVENT("500", "502", "block_wait", "", "12")
                                         EVENT("1000", "1000", "queue_scores", "8", "10"));
  const script_result result = filled(BLOCK("overlap test-gpu"));
  EXPECT(result,
         "| a consumer computes its softmax | queues products | waits for a product | waits for a "
         "tile | waits for a turn or the block |",
         "| 06 copied | 64 | 30 % | 0 % | 0 % | 20 % | 10 % | 20 % | 0 % | 50 % | 250 |");
}

// scripts/tables.sh: rows that a table must leave out or keep apart, and rows of older records, which lack columns.
#define _GNU_SOURCE
#include "tables.h"
#include "tests/kept.h"

TestSuite(table_rows, .init = tables_enter, .fini = toolkit_leave);

#define WRONG(step, median, tflops)                                                                \
  step ",,Test GPU,fp16," LARGE ",FAILED,9,0.2,0.3,0,9," median "," median "," median "," median   \
       "," median "," tflops "," ORIGIN

// A wrong result has no speed, even where the record holds a time of it. No other step is compared with it.
Test(table_rows, wrong_steps_with_a_time) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/ladder-again.csv").status, 0);
  recorded_write("ladder", ROW_HEADER TIMED("01_plain", LARGE, "0", "80", "80", "80", "0.5")
                               WRONG("02_tiled", "1", "40")
                                   TIMED("05_fused", LARGE, "0", "2", "2", "2", "20"));
  recorded_write("peers", PEERS WRONG("flash_attention_3", "1", "40"));
  const script_result result =
      filled(BLOCK("ladder test-gpu") BLOCK("step test-gpu 02") BLOCK("peers test-gpu 64 fp16 0"));
  EXPECT(result, "| 02 tiled | | FAILED | | | | 0 B | | | |\n",
         "| 05 fused | | 2.000 [2.000, 2.000] | 20.0 | 40.0 | 40.0 | 0 B | 0.80 | 0.64 |",
         "fastest peer that was timed at this shape is SDPA cuDNN", "fp16 | FAILED | | | |\n",
         "| 05 fused | 16.0 (0.64) |", "| FlashAttention-3 | FAILED |");
}

// A ladder of two shapes is drawn of the first one.
Test(table_rows, a_ladder_of_two_shapes) {
  recorded_write("ladder", ROW_HEADER TIMED("01_plain", LARGE, "0", "80", "80", "80", "0.5")
                               TIMED("01_plain", SMALL, "0", "70", "70", "70", "0.5")
                                   TIMED("05_fused", SMALL, "0", "1", "1", "1", "10")
                                       TIMED("05_fused", LARGE, "0", "2", "2", "2", "20"));
  const script_result result = filled(BLOCK("ladder test-gpu"));
  EXPECT(result, "seq 1024, head_dim 64, fp16.\n", "| 01 plain | | 80.00 [80.00, 80.00] |",
         "\n| 05 fused | | 2.000 [2.000, 2.000] | 20.0 | 40.0 | 40.0 |");
  cr_expect_null(strstr(result.out, "70.00"), "%s", result.out);
}

// A comparison with step 01 needs a time of step 01, and not of the first step that the ladder has.
Test(table_rows, a_ladder_without_step_01) {
  cr_assert_eq(toolkit_run("rm " FOLDER "/ladder-again.csv").status, 0);
  recorded_write("ladder", ROW_HEADER TIMED("04_narrow", LARGE, "0", "8", "8", "8", "5")
                               TIMED("05_fused", LARGE, "0", "2", "2", "2", "20"));
  const script_result result = filled(BLOCK("step test-gpu 05"));
  EXPECT(result, "| 2.000 [2.000, 2.000] | 20.0 | 4.00 | |\n");
}

// A scale that is near that of most records is another one: 0.125 is 1 / sqrt(64).
Test(table_rows, another_scale) {
#define SCALED(scale, median) "01_plain,Test GPU,fp16," LARGE "," scale ",ok," median ",0.5," ORIGIN
  recorded_write("ladder-again",
                 "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,scale,check,"
                 "median_ms,tflops,commit,date\n" SCALED("0.125", "80") SCALED("0.13", "70"));
  cr_assert_eq(
      toolkit_run("rm " FOLDER "/ladder.csv; mv " FOLDER "/ladder-again.csv " FOLDER "/ladder.csv")
          .status,
      0);
  const script_result result = filled(BLOCK("step test-gpu 01"));
  EXPECT(result, "head_dim 64, fp16 | 80.00 |", "head_dim 64, fp16, scale 0.13 | 70.00 |");
}

// Records of before had ratios without intervals: the ratio itself says which one is faster.
Test(table_rows, ratios_without_intervals) {
#define SHARED(step, shape, median, share)                                                         \
  step ",Test GPU,fp16," shape ",ok," median ",9," share "," ORIGIN
  recorded_write("shapes",
                 "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
                 "median_ms,tflops,share_best,commit,date\n" //
                 SHARED("05_fused", LARGE, "2", "0.99") SHARED("sdpa_flash", LARGE, "1.98", "1")
                     SHARED("05_fused", MASKED, "1", "1.01")
                         SHARED("sdpa_flash", MASKED, "1.01", "1"));
#define COMPARED(variant, ratio)                                                                   \
  "05_fused," variant ",Test GPU,fp16," LARGE ",ok,2," ratio "," ORIGIN
  recorded_write(
      "variants",
      "step,variant,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
      "median_ms,speedup,commit,date\n" //
      COMPARED("", "1") COMPARED("faster", "1.5") COMPARED("slower", "0.5"));
  const script_result result = filled(BLOCK("shapes test-gpu") BLOCK("variants test-gpu 05"));
  EXPECT(result, "| 0.99 | behind |\n", "| 1.01 | ahead |\n", "| [slower](", "| 0.50 |\n",
         "### What did not help\n", "| [faster](", "| 1.50 |\n");
}

// A mutant of which nothing is known may survive, and one whose reason is wrong was caught all the same.
Test(table_rows, verdicts_of_mutants) {
  toolkit_write(EMULATED_FOLDER "/mutants.csv",
                MUTANTS MUTANT("common/kernel/tiles.cuh", "6", "unknown", "")
                    MUTANT("common/kernel/tiles.cuh", "7", "wrong reason: check", "is it"));
  const script_result result = filled(BLOCK("mutants test-gpu"));
  EXPECT(result, "| `tiles.cuh` | 7 | 7 | 1 | 1 | 1 | 1 | 1 | 2 |\n",
         "| all | 10 | 9 | 1 | 2 | 1 | 1 | 2 | 2 |\n");
}

// A file of quoted figures holds several peers, and one of several GPUs may hold variants.
Test(table_rows, of_others) {
  recorded_write("quoted", QUOTED "another_peer,Test GPU,fp16," LARGE ",77\n");
  recorded_write("groups", GROUPS
                 "23_far,near,Test GPU,2,bf16,1,16,16,16384,16384,128,0,ok,1.5,1.5,1.5,1,0.99,"
                 "67108864," ORIGIN);
  const script_result result =
      filled(BLOCK("quoted test-gpu flash_attention_3") BLOCK("groups test-gpu"));
  EXPECT(result, "| head_dim 64, fp16 | 30.0 | 33.0 |", "| 23 far | 16384 | no | 2.500 ");
  cr_expect_null(strstr(result.out, "77"), "of another peer: %s", result.out);
  cr_expect_null(strstr(result.out, "1.500"), "of a variant: %s", result.out);
}

// The fastest configuration is the first one that is right and timed.
Test(table_rows, a_sweep_whose_first_row_is_wrong) {
  recorded_write("sweep",
                 ROW_HEADER "06_copied,128x64x4x2,Test GPU,fp16," LARGE
                            ",FAILED,,,,0,9,1,1,1,1,1,40," ORIGIN CONFIGURED("64x64x4x2", "2", "20")
                                CONFIGURED("32x64x4x1", "4", "10"));
  const script_result result = filled(BLOCK("sweep test-gpu sweep"));
  EXPECT(result, "| 128x64x4x2 | FAILED | | |\n",
         "| 64x64x4x2 | 2.000 [2.000, 2.000] | 20.0 | 1.00 |",
         "| 32x64x4x1 | 4.000 [4.000, 4.000] | 10.0 | 0.500 |");
}

// A record that holds a text where a number belongs makes no table, and the document stays as it is.
Test(table_rows, that_are_no_record) {
  cr_assert_eq(toolkit_run("sed -i s/,10,abc/,ten,abc/ " FOLDER "/bench.csv").status, 0);
  toolkit_write("document.md", BLOCK("scaling test-gpu 64 fp16 0"));
  static const char *const options[] = {"", "--check "};
  for (int i = 0; i < 2; i++) {
    char command[128];
    snprintf(command, sizeof command, "scripts/tables.sh %sdocument.md 2>&1", options[i]);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
    EXPECT(result, "error: line 4 of " FOLDER "/bench.csv is no record: tflops is no number: ten");
  }
  cr_expect_str_eq(kept(toolkit_run("cat document.md").out), BLOCK("scaling test-gpu 64 fp16 0"));
}

// The column of steps 18 and 20 is of these two, whatever steps for decode were timed beside them.
Test(table_rows, other_steps_for_decode) {
  recorded_write("waves", WAVES GRAPHED("25_marked_words", WAVES_SHORT, "0.02", "0.001"));
  const script_result result = filled(BLOCK("waves test-gpu 64 0"));
  EXPECT(result, "| 1 | 4096 | 4096 | 30.0 | 24.0 | 16.0 | 1.88 | 32.0 | SDPA flash | 2.00 |\n");
}

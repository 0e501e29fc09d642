// The awk programs of plots/: rows that a chart must leave out or keep apart, and the ends of intervals.
#define _GNU_SOURCE
#include "prepared.h"

static void enter(void) {
  toolkit_enter();
  recorded_write_all();
}

TestSuite(plot_rows, .init = enter, .fini = toolkit_leave);

#define WITH_INTERVALS                                                                             \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"             \
  "score_deviation,rising,check,median_ms,ci_low_ms,ci_high_ms,tflops,base_step,speedup_low,"      \
  "speedup_high,commit,date\n"
#define BETWEEN(step, configuration, times, pairs)                                                 \
  step "," configuration ",Test GPU,fp16," LARGE ",1,0,ok," times "," pairs "," ORIGIN

// A peer of another shape is no bar of the ladder's.
Test(plot_rows, peers_of_another_shape) {
  recorded_write("peers", PEERS TIMED("flash_attention_3", SMALL, "0", "1", "1", "1", "99"));
  const script_result result = prepared("speedup", "ladder.csv peers.csv");
  EXPECT(result, "SDPA cuDNN 50×");
  cr_expect_null(strstr(result.out, "FlashAttention"), "%s", result.out);
}

// The interval of pairs is one over the step that the pairs are of, and over no other base.
Test(plot_rows, pairs_of_another_base) {
  recorded_write("ladder", WITH_INTERVALS BETWEEN("01_plain", "", "80,80,80,0.5", "01_plain,1,1")
                               BETWEEN("02_tiled", "", "20,20,20,2", "01_plain,3,5")
                                   BETWEEN("05_fused", "", "2,2,2,20", "01_plain,38,41"));
  expect_prepared("speedup", "-v base_chosen=02 ladder.csv", " 1 10 10 10 5 05 fused 10× ");
  expect_prepared("speedup", "ladder.csv", " 1 40 38 41 5 05 fused 40× ");
}

// A step's own row of counts is the one without a configuration that was asked for.
Test(plot_rows, counts_of_another_configuration) {
  recorded_write("counts", COUNTS "05_fused,64x64x4,Test GPU,fp16," LARGE
                                  ",ncu,100,400,10,40,50,60,7,8,0,0,99,1,5,5," ORIGIN);
  expect_prepared("roofline", "ladder.csv counts.csv ceilings.csv",
                  "array step_x[2] = [20, 20000]");
}

// The grid's number of heads counts, also where another shape has a length or a step of its own.
Test(plot_rows, memory_of_fewer_heads) {
  recorded_write("bench", BENCH TIMED("30_other", "1,1,1,256,256,64,0", "0", "1", "1", "1", "5"));
  const script_result result = prepared("memory", "bench.csv");
  EXPECT(result, "heads 4, ", "array line_name[2] = ['step 01: ×3.6', 'step 05: ×2.0']",
         "shortest = 512 ");
}

// Step 25 multiplies by mma.sync, as the steps for decode before it do.
Test(plot_rows, ceilings_of_the_steps_for_decode) {
  recorded_write("bench", ROW_HEADER TIMED("20_one", LARGE, "0", "2", "2", "2", "20")
                              TIMED("25_marked", LARGE, "0", "2", "2", "2", "30"));
  expect_prepared("ceiling-share", "bench.csv ceilings.csv", "['20 one', '25 marked']");
}

// Several queries read K and V once for all of them.
Test(plot_rows, several_queries_of_decode) {
  recorded_write("decode", DECODE GRAPHED("20_one_kernel", "1,32,8,4,1024,128,0", "0.02", "0.001"));
  const script_result result = prepared("decode", "decode.csv");
  EXPECT(result, "1024 524.288 ");
  cr_expect_null(strstr(result.out, "4194"), "%s", result.out);
}

// A reader's own peers are of another run than the record's steps.
Test(plot_rows, peers_of_a_readers_own) {
  recorded_write("own", ROW_HEADER TIMED("30_mine", LARGE, "0", "1", "1", "1", "40")
                            TIMED("sdpa_flash", LARGE, "0", "0.25", "0.25", "0.25", "99"));
  const script_result result = prepared("peers", "peers.csv own=1 own.csv");
  EXPECT(result, "1024 0.8 0.8 0.8 0 ", "1024 0.25 0.25 0.25 0 ", "1024 0.64 0.64 0.64 0 ");
}

// The samples of the shape that most steps have, and how many rounds of all were throttled.
Test(plot_rows, samples_of_one_shape) {
#define ROUND(step, shape, throttled, microseconds)                                                \
  step ",Test GPU,fp16," shape "," throttled "," microseconds "," ORIGIN
  recorded_write("bench-samples",
                 "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,throttled,"
                 "microseconds,commit,date\n" //
                 ROUND("01_plain", SMALL, "0", "70") ROUND("01_plain", LARGE, "1", "80")
                     ROUND("05_fused", LARGE, "0", "2") ROUND("01_plain", LARGE, "0", "80"));
  const script_result result = prepared("latency", "bench-samples.csv");
  EXPECT(result, "seq 1024, ", "01 plain median 80 us, n = 2; * in 1 of 2 rounds",
         "05 fused median 2 us, n = 1 ");
}

// The counts of one source are drawn, with the commits of its rows alone.
Test(plot_rows, commits_of_the_counts_that_are_drawn) {
  recorded_write("counts", COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "5")
                               COUNTED("05_fused", "ncu", "400", "5") //
                 "01_plain,,Test GPU,fp16," LARGE
                 ",emulator,100,3100,10,40,50,60,7,8,0,0,99,1,,,def5678,2026-01-01T00:00:00Z\n");
  expect_prepared("saves", "counts.csv", "corner = 'Test GPU, commit abc1234, 2026-01-02' ");
}

// A time between 1.6 and 2.5 ms is a speed between 16 and 25 TFLOP/s.
Test(plot_rows, ends_of_intervals) {
#define HALF_SURE BETWEEN("06_copied", "64x64x4x2", "2,1.6,2.5,20", ",,")
  recorded_write("sweep", WITH_INTERVALS HALF_SURE);
  recorded_write("spread", WITH_INTERVALS HALF_SURE);
  expect_prepared("sweep", "sweep.csv", " 0 20 16 25 6 64x64x4x2 ");
  expect_prepared("spread", "spread.csv", "1 20 16 25 0 ");
}

// Variants of the steps for several GPUs have tables of their own.
Test(plot_rows, variants_on_several_gpus) {
  recorded_write("groups", GROUPS
                 "23_far,near,Test GPU,2,bf16,1,16,16,16384,16384,128,0,ok,1.5,1.5,1.5,1,0.99,"
                 "67108864," ORIGIN);
  const script_result result = prepared("groups", "-f $root/scripts/group_model.awk groups.csv");
  EXPECT(result, "16384 80 80 80 0 ");
  cr_expect_null(strstr(result.out, "16384 99"), "%s", result.out);
}

// An emulated ladder of two shapes is drawn of the first one.
Test(plot_rows, counts_of_one_shape) {
#define LAUNCHED(step, shape, blocks) step ",Test GPU,fp16," shape ",ok,0," blocks ",3," ORIGIN
  recorded_write("ladder",
                 "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
                 "workspace_bytes,blocks,block_barriers,commit,date\n" //
                 LAUNCHED("01_plain", LARGE, "77") LAUNCHED("01_plain", SMALL, "555"));
  const script_result result = prepared("ladder_counts", "ladder.csv");
  EXPECT(result, "seq 1024, ", "01 plain 77 ");
  cr_expect_null(strstr(result.out, "555"), "%s", result.out);
}

// The awk programs of plots/ again: the charts of decode, splits, timelines and configurations, and of what the emulator
// counts.
#define _GNU_SOURCE
#include "prepared.h"

static void enter(void) {
  toolkit_enter();
  recorded_write_all();
}

TestSuite(plot_more, .init = enter, .fini = toolkit_leave);

// K and V have 4.194304 MB at 1024 keys: GB/s by the time of a replayed graph, or of a launch where there is none.
Test(plot_more, bytes_by_the_time_of_decode) {
  const script_result result = prepared("decode", "decode.csv");
  EXPECT(
      result, "one query, 32 heads, 8 key/value heads, head_dim 128, bf16'",
      "1024 1048.58 1048.58 1048.58 0 4096 1677.72 ", "1024 419.43 ",
      "1024 524.288 524.288 524.288 0 4096 262.144 262.144 262.144 0 8192 524.288 ",
      "line_name[5] = ['only reading', '18 split kv', '20 one kernel', 'SDPA flash', 'SDPA cuDNN']",
      "panel_title[1] = [', batch 1']");
  // The interval is that of the time that counts.
  recorded_write(
      "decode",
      "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,median_ms,"
      "ci_low_ms,ci_high_ms,tflops,graph_ms,graph_ci_low_ms,graph_ci_high_ms,commit,date\n"
      "20_one_kernel,Test GPU,bf16," DECODED ",ok,0.02,0.01,0.03,1,0.008,0.004,0.016," ORIGIN
      "20_one_kernel,Test GPU,bf16," DECODED_LONG ",ok,0.064,0.032,0.128,1,,,," ORIGIN);
  expect_prepared("decode", "decode.csv",
                  "1024 524.288 262.144 1048.58 0 8192 524.288 262.144 1048.58 0 ");
}

// In microseconds, on an axis that says that it is logarithmic. A graph's time takes the interval with it.
Test(plot_more, times_by_the_number_of_splits) {
  recorded_write(
      "splits",
      "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"
      "median_ms,ci_low_ms,ci_high_ms,tflops,graph_ms,commit,date\n"
      "06_copied,:8,Test GPU,fp16," LARGE ",ok,0.04,0.03,0.05,20,0.02," ORIGIN
      "06_copied,:2,Test GPU,fp16," LARGE ",ok,4,4,4,10,," ORIGIN
      "06_copied,64x64x4,Test GPU,fp16," LARGE ",ok,3,3,3,10,," ORIGIN);
  const script_result result = prepared("splits", "splits.csv");
  EXPECT(result, "$lines << END 2 4000 4000 4000 0 8 20 15 25 0 END",
         "line_name[1] = ['06 copied']",
         "description = 'Panel, logarithmic: 06 copied 4000 at 2 and 20 at 8.'");
}

// Of the first shape's right steps. Bars on a logarithmic axis begin at its least power of ten, where zeros end, too.
Test(plot_more, counts_of_an_emulated_ladder) {
  recorded_write("ladder", "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"
                           "check,workspace_bytes,blocks,block_barriers,commit,date\n"
                           "01_plain,Test GPU,fp16," LARGE ",ok,2048,30,0," ORIGIN
                           "02_tiled,Test GPU,fp16," LARGE ",FAILED,7,7,7," ORIGIN
                           "05_fused,Test GPU,fp16," LARGE ",ok,0,12,5000," ORIGIN
                           "05_fused,Test GPU,fp16," SMALL ",ok,0,9,9," ORIGIN);
  const script_result result = prepared("ladder_counts", "ladder.csv");
  EXPECT(result, "batch 4, heads 4, seq 1024, head_dim 64, fp16'",
         "1 1000 2048 2048 2048 1 01 plain 2.05 k 2048 2 1000 1000 1000 1000 5 05 fused 0 ",
         "01 plain 30 30 2 10 12 12 12 5 05 fused 12 12 ",
         "01 plain 0 1000 2 1000 5000 5000 5000 5 05 fused 5 k 5000 END",
         "'workspace, bytes', 'blocks launched', 'block barriers passed'");
}

// Numbers are explained where there are some: a step that multiplies by mma.sync has none.
Test(plot_more, words_of_a_timeline) {
  const script_result numbered = prepared("timeline", "-f $root/scripts/timeline.awk timeline.csv");
  EXPECT(
      numbered,
      "fp16; stamps make this run 5.0 % slower, and 10.0 % slower if all multiprocessors record'",
      "own. Numbers: source lines above, key blocks below.'");
  recorded_write("timeline", TIMELINE_HEADER EVENT("0", "400", "scores", "7", "10")
                                 EVENT("500", "900", "output", "7", "12"));
  const script_result plain = prepared("timeline", "-f $root/scripts/timeline.awk timeline.csv");
  EXPECT(plain, "sentence = 'Tensor cores have work queued for ");
  cr_expect_null(strstr(plain.out, "Numbers"), "%s", plain.out);
}

Test(plot_more, configurations_by_speed) {
  recorded_write("sweep",
                 ROW_HEADER CONFIGURED("32x64x4x1", "4", "10") CONFIGURED("64x64x4x2", "2", "20"));
  expect_prepared(
      "sweep", "sweep.csv",
      "64x64x4x2: 64 queries and 64 keys a tile, 4 warps a block, room for 2 key blocks.");
  expect_prepared("sweep", "sweep.csv",
                  "1 0 20 20 20 6 64x64x4x2 20 TFLOP/s, 2 ms 20 2 0 10 10 10 6 32x64x4x1 ");
  // A step without a ring of key blocks says nothing of one.
  recorded_write("sweep", ROW_HEADER CONFIGURED("32x64x8", "4", "10"));
  const script_result result = prepared("sweep", "sweep.csv");
  EXPECT(result, "'32x64x8: 32 queries and 64 keys a tile, 8 warps a block.'",
         "x WARPS, by TFLOP/s'");
}

// For tests of the charts and tables: small records of a GPU that does not exist, with wave numbers.
#ifndef RECORDED_H
#define RECORDED_H

#include "toolkit.h"

#define ROW_HEADER                                                                                 \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"       \
  "o_error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms," \
  "tflops,commit,date\n"
#define SPREAD_HEADER                                                                              \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,score_deviation,rising,"    \
  "check,median_ms,tflops,commit,date\n"
#define SAMPLES_HEADER                                                                             \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,commit,date," \
  "microseconds\n"
#define CEILINGS_HEADER                                                                            \
  "name,unit,value,ci_low,ci_high,samples,vendor_value,vendor_source,device,commit,date\n"
#define COUNTS_HEADER                                                                              \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,source,"      \
  "global_load_requests,global_load_sectors,global_store_requests,global_store_sectors,"           \
  "shared_load_requests,shared_load_wavefronts,shared_store_requests,shared_store_wavefronts,"     \
  "tensor_core_operations,async_copy_bytes,block_barriers,divergent_branches,dram_read_bytes,"     \
  "dram_write_bytes,commit,date\n"
#define ORIGIN "abc1234,2026-01-02T03:04:05Z\n"

// A shape: batch, heads, key heads, queries, keys, head_dim, causal. SMALLER has the length of SMALL.
#define SMALL   "8,4,4,512,512,64,0"
#define SMALLER "1,4,4,512,512,64,0"
#define LARGE   "4,4,4,1024,1024,64,0"
#define MASKED  "4,4,4,1024,1024,64,1"

#define TIMED(step, shape, workspace, low, median, high, tflops)                                   \
  step ",,Test GPU,fp16," shape ",ok,0.1,0.2,0.3," workspace ",9," median "," low "," high "," low \
       "," high "," tflops "," ORIGIN
#define NOT_TIMED(step, shape, check) step ",,Test GPU,fp16," shape "," check ",,,,,,,,,,,," ORIGIN
#define SAMPLED(step, microseconds)                                                                \
  step ",,Test GPU,fp16," LARGE ",abc1234,2026-01-02T03:04:05Z," microseconds "\n"
#define SPREAD_OVER(scores, step, median, tflops)                                                  \
  step ",Test GPU,fp16," LARGE "," scores ",ok," median "," tflops "," ORIGIN
#define CONFIGURED(configuration, median, tflops)                                                  \
  "06_copied," configuration ",Test GPU,fp16," LARGE ",ok,,,,0,9," median "," median "," median    \
  "," median "," median "," tflops "," ORIGIN
#define CEILING(name, unit, value, vendor)                                                         \
  name "," unit "," value "," value "," value ",9," vendor ",data sheet,Test GPU," ORIGIN
#define COUNTED(step, source, sectors, dram)                                                       \
  step ",,Test GPU,fp16," LARGE "," source ",100," sectors ",10,40,50,60,7,8,0,0,99,1," dram       \
       "," dram "," ORIGIN

// A ladder of four steps; one is wrong and one does not take the shape.
#define LADDER                                                                                     \
  ROW_HEADER TIMED("01_plain", LARGE, "67108864", "79.5", "80", "80.5", "0.5")                     \
      TIMED("02_tiled", LARGE, "67108864", "19.9", "20", "20.1", "2")                              \
          NOT_TIMED("03_wrong", LARGE, "FAILED") NOT_TIMED("04_narrow", LARGE, "skipped")          \
              TIMED("05_fused", LARGE, "0", "1.996", "2", "2.004", "20")
// The first kernel agrees in all compared columns; the second differs in one column of two.
#define CALIBRATION                                                                                \
  "# The emulator\nkernel,column,expected,emulator,ncu,difference,commit,date\n"                   \
  "load stride 1,global_load_requests,64,64,64,0.00," ORIGIN                                       \
  "load stride 1,block_barriers,1,1,,," ORIGIN "05_fused,global_load_requests,,50,50,0.00," ORIGIN \
  "05_fused,divergent_branches,,80,16,400.00," ORIGIN
#define BENCH                                                                                      \
  ROW_HEADER TIMED("01_plain", SMALL, "33554432", "39", "40", "41", "0.25")                        \
      TIMED("01_plain", LARGE, "67108864", "79", "80", "81", "0.5")                                \
          TIMED("05_fused", SMALL, "0", "1", "1", "1", "10")                                       \
              TIMED("05_fused", LARGE, "0", "2", "2", "2", "20")                                   \
                  TIMED("05_fused", MASKED, "0", "2", "2", "2", "10")                              \
                      NOT_TIMED("01_plain", MASKED, "skipped")
#define PEERS                                                                                      \
  ROW_HEADER TIMED("05_fused", LARGE, "0", "2.5", "2.5", "2.5", "16")                              \
      TIMED("sdpa_flash", LARGE, "0", "2", "2", "2", "20")                                         \
          TIMED("sdpa_cudnn", LARGE, "0", "1.6", "1.6", "1.6", "25")                               \
              NOT_TIMED("sdpa_math", LARGE, "skipped")
// Two steps and a peer at two deviations of random scores, and two of them for rising ones.
#define SPREAD                                                                                     \
  SPREAD_HEADER SPREAD_OVER("1,0", "05_fused", "2", "20")                                          \
      SPREAD_OVER("1,0", "06_copied", "1.6", "25") SPREAD_OVER("1,0", "sdpa_flash", "4", "10")     \
          SPREAD_OVER("16,0", "05_fused", "2", "20") SPREAD_OVER("16,0", "06_copied", "2.5", "16") \
              SPREAD_OVER("16,1", "05_fused", "2", "20")                                           \
                  SPREAD_OVER("16,1", "06_copied", "5", "8")
// K and V of 4.194304 MB, or eight times as much. The times of a replayed graph count where there are any.
#define DECODED      "1,32,8,1,1024,128,0"
#define DECODED_LONG "1,32,8,1,8192,128,0"
#define DECODED_NEAR "1,32,8,1,4096,128,0" // one time is above 50 microseconds, the other one below
#define GRAPHED(step, shape, median, graph)                                                        \
  step ",Test GPU,bf16," shape ",1,0,ok," median ",1," graph "," ORIGIN
#define DECODE                                                                                     \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,score_deviation,rising,"    \
  "check,median_ms,tflops,graph_ms,commit,date\n" GRAPHED("18_split_kv", DECODED, "0.02", "0.01")  \
      GRAPHED("20_one_kernel", DECODED, "0.02", "0.008")                                           \
          GRAPHED("sdpa_cudnn", DECODED, "0.02", "0.016")                                          \
              GRAPHED("sdpa_flash", DECODED, "0.02", "0.02")                                       \
                  GRAPHED("20_one_kernel", DECODED_LONG, "0.064", "")                              \
                      GRAPHED("20_one_kernel", DECODED_NEAR, "0.064", "")                          \
                          GRAPHED("sdpa_cudnn", DECODED_NEAR, "0.048", "0.04")                     \
                              GRAPHED("only_reading", DECODED, "0.005", "0.004")                   \
                                  GRAPHED("only_reading", DECODED_LONG, "0.032", "0.03")           \
                                      GRAPHED("only_reading", DECODED_NEAR, "0.016", "0.01")
// Problems with few tiles. Of the second one, one time is above 50 microseconds, so that it has none of a graph.
#define WAVES_SHORT "1,1,1,4096,4096,64,0"
#define WAVES_LONG  "1,10,10,2048,2048,64,0"
#define WAVES                                                                                      \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,score_deviation,rising,"    \
  "check,median_ms,tflops,graph_ms,commit,date\n" GRAPHED("17_lazy_max", WAVES_SHORT, "0.04",      \
                                                          "0.03")                                  \
      GRAPHED("18_split_kv", WAVES_SHORT, "0.03", "0.028")                                         \
          GRAPHED("20_one_kernel", WAVES_SHORT, "0.03", "0.024")                                   \
              GRAPHED("24_last_wave", WAVES_SHORT, "0.02", "0.016")                                \
                  GRAPHED("26_early_merge", WAVES_SHORT, "0.016", "0.02")                          \
                      GRAPHED("sdpa_flash", WAVES_SHORT, "0.03", "0.032")                          \
                          GRAPHED("17_lazy_max", WAVES_LONG, "0.06", "")                           \
                              GRAPHED("24_last_wave", WAVES_LONG, "0.048", "0.045")
#define DECODE_QUOTED                                                                              \
  "# a source\n"                                                                                   \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,graph_ms\n"                 \
  "xqa_quoted,Test GPU,bf16," DECODED ",0.009\nxqa_quoted,Test GPU,bf16," DECODED_LONG ",0.06\n"
#define SPLITS ROW_HEADER CONFIGURED(":2", "4", "10") CONFIGURED(":8", "2", "20")
#define QUOTED                                                                                     \
  "# a source\n"                                                                                   \
  "step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,tflops\n"                   \
  "flash_attention_3,Test GPU,fp16," SMALL ",30\n"                                                 \
  "flash_attention_3,Test GPU,fp16," LARGE ",33\nflash_attention_3,Test GPU,bf16," MASKED ",34\n"
#define SAMPLES                                                                                    \
  SAMPLES_HEADER SAMPLED("01_plain", "80000.000 80400.000 79600.000")                              \
      SAMPLED("05_fused", "2000.000")
#define SWEEP                                                                                      \
  ROW_HEADER CONFIGURED("64x64x4x2", "2", "20")                                                    \
      CONFIGURED("32x64x4x1", "4", "10") "06_copied,128x64x4x2,Test GPU,fp16," LARGE               \
                                         ",skipped,,,,,,,,,,,," ORIGIN
#define CEILINGS                                                                                   \
  CEILINGS_HEADER CEILING("copy_bandwidth", "GB/s", "1000", "1250")                                \
      CEILING("read_bandwidth", "GB/s", "1048.576", "1250")                                        \
          CEILING("l2_read_bandwidth", "GB/s", "2000", "")                                         \
              CEILING("l2_latency", "ns", "250.5", "") CEILING("fp32_fma", "TFLOP/s", "30", "40")  \
                  CEILING("tensor_mma_fp16", "TFLOP/s", "100", "")
#define COUNTS                                                                                     \
  COUNTS_HEADER COUNTED("01_plain", "ncu", "3200", "1000000000")                                   \
      COUNTED("05_fused", "ncu", "400", "1000000") COUNTED("01_plain", "emulator", "3100", "")
// Quoted, as messages hold commas; on the GPU the second passes check, and was not given to sanitize.
#define BUGS_HEADER "step,bug,title,check,check_message,sanitize,sanitize_message,commit,date\n"
#define BUGS                                                                                       \
  BUGS_HEADER "\"01_plain\",\"1_first\",\"a \"\"quoted\"\" word\",\"caught\",\"row 0, column 1\"," \
              "\"passes\",\"\"," ORIGIN                                                            \
              "\"05_fused\",\"2_second\",\"another\",\"passes\",\"\",\"caught\",\"a | b\"," ORIGIN
#define BUGS_ON_GPU                                                                                \
  BUGS_HEADER                                                                                      \
  "\"01_plain\",\"1_first\",\"a \"\"quoted\"\" word\",\"caught\",\"row 1\",\"caught\","            \
  "\"Race\"," ORIGIN "\"05_fused\",\"2_second\",\"another\",\"passes\",\"\",\"-\",\"\"," ORIGIN

// A step and a header, with one mutant of each verdict.
#define MUTANT(source, line, verdict, reason)                                                      \
  "\"" source "\",\"" line "\",\"3\",\"bound\",\"`<` -> `<=`\",\"" verdict                         \
  "\",\"\",\"\",\"" reason "\"," ORIGIN
#define MUTANTS                                                                                    \
  "source,line,column,operator,change,verdict,step,message,reason,commit,date\n" MUTANT(           \
      "steps/01_plain/attention.cu", "5", "check", "")                                             \
      MUTANT("steps/01_plain/attention.cu", "6", "reason", "slower, and right")                    \
          MUTANT("steps/01_plain/attention.cu", "7", "not tried", "")                              \
              MUTANT("common/kernel/tiles.cuh", "1", "compile", "")                                \
                  MUTANT("common/kernel/tiles.cuh", "2", "sanitize", "")                           \
                      MUTANT("common/kernel/tiles.cuh", "3", "hang", "")                           \
                          MUTANT("common/kernel/tiles.cuh", "4", "same", "")                       \
                              MUTANT("common/kernel/tiles.cuh", "5", "survives", "")

#define FOLDER "plots/data/test-gpu"

#define EMULATED_FOLDER "plots/data/emulated-test-gpu"

static inline void recorded_write(const char *name, const char *text) {
  char path[256];
  cr_assert(toolkit_run("mkdir -p " FOLDER).status == 0, "no folder");
  snprintf(path, sizeof path, FOLDER "/%s.csv", name);
  toolkit_write(path, text);
}

// A warp group of which a softmax runs beside no product: a product of 300 clocks, a softmax of 200, a product of 400.
#define TIMELINE_HEADER                                                                            \
  "# before: commit = abc1234, date = 2026-01-02T03:04:05Z\n"                                      \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,plain_ms,"    \
  "stamped_ms,all_stamped_ms,lost,stretch,block,warp,begin,end,kind,key_block,file,line\n"
#define EVENT(begin, end, kind, key_block, line)                                                   \
  "06_copied,,Test GPU,fp16," LARGE ",2,2.1,2.2,0,1000,0,4," begin "," end "," kind "," key_block  \
  ",attention.cu," line "\n"
#define TIMELINE                                                                                   \
  TIMELINE_HEADER EVENT("0", "0", "queue_scores", "7", "10")                                       \
      EVENT("100", "300", "product_wait", "", "11") EVENT("500", "500", "queue_output", "7", "12") \
          EVENT("600", "900", "product_wait", "", "13")                                            \
              EVENT("1000", "1000", "queue_scores", "8", "10")

static inline void recorded_write_all(void) {
  recorded_write("ladder", LADDER);
  recorded_write("ladder-again", LADDER);
  recorded_write("bench", BENCH);
  recorded_write("bench-samples", SAMPLES);
  recorded_write("peers", PEERS);
  recorded_write("spread", SPREAD);
  recorded_write("decode", DECODE);
  recorded_write("waves", WAVES);
  recorded_write("splits", SPLITS);
  recorded_write("quoted", QUOTED);
  recorded_write("decode-quoted", DECODE_QUOTED);
  recorded_write("sweep", SWEEP);
  recorded_write("timeline", TIMELINE);
  recorded_write("ceilings", CEILINGS);
  recorded_write("counts", COUNTS);
  recorded_write("bugs", BUGS_ON_GPU);
  cr_assert(toolkit_run("mkdir -p " EMULATED_FOLDER).status == 0, "no folder");
  toolkit_write(EMULATED_FOLDER "/bugs.csv", BUGS);
  toolkit_write(EMULATED_FOLDER "/mutants.csv", MUTANTS);
  recorded_write("calibration", CALIBRATION);
}

// A record of several GPUs: one GPU takes 4 ms for 16384 rows, and 2 ms with a mask. K and V arrive at 100 GB/s on two
// GPUs, and an exchange takes 0.1 ms beside that.
#define OF_GROUP(step, gpus, seq, causal, check, median, efficiency, bytes)                        \
  step ",,Test GPU," gpus ",bf16,1,16,16," seq "," seq ",128," causal "," check "," median         \
       "," median "," median ",1," efficiency "," bytes "," ORIGIN
#define GROUPS                                                                                     \
  "step,variant,device,gpus,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"        \
  "median_ms,ci_low_ms,ci_high_ms,tflops,efficiency,arriving_bytes,commit,date\n" OF_GROUP(        \
      "17_one", "1", "16384", "0", "ok", "4", "1",                                                 \
      "0") OF_GROUP("17_one", "1", "16384", "1", "ok", "2", "1",                                   \
                    "0") OF_GROUP("23_far", "2", "16384", "0", "ok", "2.5", "0.8", "67108864")     \
      OF_GROUP("23_far", "4", "16384", "0", "ok", "1.25", "0.8", "100663296") OF_GROUP(            \
          "exchange_alone", "2", "8192", "0", "skipped", "0.43554432", "", "33554432")             \
          OF_GROUP("exchange_alone", "2", "16384", "0", "skipped", "0.77108864", "", "67108864")   \
              OF_GROUP("exchange_alone", "4", "16384", "0", "skipped", "9", "", "100663296")

// Of such a record with the intervals of efficiencies and with the link: a step that was throttled, the products
// alone, and the copies alone.
#define GROUPS_WITH_LINK                                                                           \
  "step,variant,device,gpus,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,"        \
  "workspace_bytes,median_ms,ci_low_ms,ci_high_ms,tflops,launches_in_a_row,waves,"                 \
  "throttled_rounds,throttled,efficiency,efficiency_low,efficiency_high,arriving_bytes,gb_per_s,"  \
  "link_gb_per_s,link_share,commit,date\n"                                                         \
  "17_one,,Test GPU,1,bf16,1,16,16,16384,16384,128,0,ok,0,4,4,4,1,10,12,0,0,1,1,1,0,,,," ORIGIN    \
  "23_far,,Test GPU,2,bf16,1,16,16,16384,16384,128,0,ok,9,2.5,2.4,2.6,1,10,12,9,1,0.8,0.79,0.812," \
  "67108864,,335.5,0.08," ORIGIN                                                                   \
  "products_alone,,Test GPU,2,bf16,1,16,16,16384,16384,128,0,ok,9,2.1,2.1,2.1,1,10,12,0,0,"        \
  "0.95,0.95,0.95,0,,,," ORIGIN                                                                    \
  "copies_alone,,Test GPU,2,bf16,1,16,16,16384,16384,128,0,skipped,9,0.2,0.2,0.2,,10,12,0,0,,,,"   \
  "67108864,335.5,335.5,1," ORIGIN

#endif

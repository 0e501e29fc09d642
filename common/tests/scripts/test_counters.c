// scripts/count_gpu.sh and record_counts.sh on what ncu and a step's program would say.
#define _GNU_SOURCE
#include "toolkit.h"

// A step's program as the scripts see it: it prints the shape of the options and the device of a GPU.
#define PROGRAM                                                                                    \
  "#!/bin/bash\n[ \"$FAIL\" != program ] || exit 2\n"                                              \
  "echo step,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,scale\n"               \
  "seq=256\nwhile [ $# -gt 0 ]; do [ \"$1\" = --seq ] && seq=$2; shift; done\n"                    \
  "echo 05_wmma,NVIDIA H200,fp16,1,1,1,$seq,$seq,64,0,0.125\n"

// Two kernels; knows no metric of stores. Notes when it is asked for its metrics.
#define NCU                                                                                        \
  "#!/bin/bash\n"                                                                                  \
  "if [ \"$1\" = --query-metrics ]; then\n"                                                        \
  "  echo queried >>queries\n"                                                                     \
  "  [ \"$FAIL\" != query ] || { echo '==ERROR== no GPU' >&2; exit 1; }\n"                         \
  "  sed '/^#/d; /store/d; s/.* //' scripts/ncu_metrics.txt | tr '|' '\\n' |\n"                    \
  "    sed 's/\\.sum$/  Counter  inst  # of things/'\n"                                            \
  "  exit\n"                                                                                       \
  "fi\n"                                                                                           \
  "while [ $# -gt 0 ]; do case $1 in\n"                                                            \
  "  --metrics) IFS=, read -ra metrics <<<\"$2\"; shift 2 ;;\n"                                    \
  "  --log-file) log=$2; shift 2 ;;\n  --csv) shift ;;\n  --*) shift 2 ;;\n  *) break ;;\n"        \
  "esac; done\n"                                                                                   \
  "if [ \"$FAIL\" = counters ]; then echo '==ERROR== ERR_NVGPUCTRPERM - no' >\"$log\"; exit 1; "   \
  "fi\n"                                                                                           \
  "\"$@\" || exit\n"                                                                               \
  "line() { printf '\"%s\",\"f(int, \"\"x\"\")\",\"%s\"' \"$1\" \"$2\" >>\"$log\"\n"               \
  "  for metric in \"${metrics[@]}\"; do\n"                                                        \
  "    value=$3\n"                                                                                 \
  "    case $3$metric in *000sm__ops*fp16*) value=8192 ;; *000sm__ops*) value=0 ;; esac\n"         \
  "    printf ',\"%s\"' \"${value:-$metric}\" >>\"$log\"\n"                                        \
  "  done; echo >>\"$log\"; }\n"                                                                   \
  "echo '==PROF== Connected to process 1' >\"$log\"\n"                                             \
  "line ID 'Block Size' '' && line '' '' inst && line 0 '(33, 2, 1)' 3,000\n"                      \
  "line 1 '(32, 1, 1)' 2,000\n" FINISHES

static void enter(void) {
  toolkit_enter();
  toolkit_write("bin/ncu", NCU);
  toolkit_write("program", PROGRAM);
  cr_assert(chmod("bin/ncu", 0700) == 0 && chmod("program", 0700) == 0);
}

TestSuite(counters, .init = enter, .fini = toolkit_leave);

#define COUNT "NCU=bin/ncu LAB_COMMIT=here scripts/count_gpu.sh data ./program "

Test(counters, kernels_add_up) {
  const script_result result = toolkit_run(COUNT "2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  // Bytes: sectors of two ways of cp.async. Shared loads: plain ones and ldmatrix. Operations: two of 4096.
  EXPECT(result,
         "warning: global_store_requests lacks a part: this ncu has none of l1tex__t_requests",
         "05_wmma on NVIDIA H200, 1x1x256x64 fp16: 2 kernels", "async_copy_bytes 320000\n",
         "dram_read_bytes 5000\n", "global_load_requests 5000\n", "global_load_sectors 5000\n",
         "shared_load_requests 10000\n", "tensor_core_operations 4\n", "written: data/counts.csv");
}

Test(counters, rows_replace_their_like) {
  const script_result result =
      toolkit_run(COUNT ">log 2>&1 && " COUNT "-- --seq 128 >log 2>&1 && " COUNT
                        ">log 2>&1; cat data/counts.csv");
  EXPECT(
      result,
      "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,source,",
      "\n05_wmma,,NVIDIA H200,fp16,1,1,1,256,256,64,0,ncu,5000,5000,,,10000,5000,", ",here,",
      "\n05_wmma,,NVIDIA H200,fp16,1,1,1,128,128,64,0,ncu,5000,5000,,,10000,5000,");
  int rows = 0;
  for (const char *at = result.out; (at = strstr(at, "05_wmma")); at++) rows++;
  cr_expect_eq(rows, 2, "%s", result.out);
}

Test(counters, failures_are_sentences) {
  const script_result query = toolkit_run("FAIL=query " COUNT "2>&1");
  cr_expect_eq(query.status, 2);
  EXPECT(query, "error: ncu cannot list its metrics\n", "ncu: no GPU");
  const script_result counters = toolkit_run("FAIL=counters " COUNT "2>&1");
  cr_expect_eq(counters.status, 2);
  EXPECT(counters, "error: ncu cannot count the kernels of ./program", "ncu: ERR_NVGPUCTRPERM",
         "run as root");
  const script_result program = toolkit_run("FAIL=program " COUNT "2>&1; ls data 2>&1");
  EXPECT(program, "error: ncu cannot count the kernels of ./program", "No such file");
}

// The emulator's part of a calibration: two small kernels, and the step that PROGRAM is.
static void write_calibration(void) {
  cr_assert_eq(toolkit_run("mkdir cpu gpu && cp program gpu/step05").status, 0);
  toolkit_write("cpu/calibrate", "#!/bin/bash\necho kernel,column,expected,emulator\n"
                                 "echo first,global_load_requests,3000,3000\n"
                                 "echo first,block_barriers,1,1\n"
                                 "echo second,global_load_requests,1500,1500\n" FINISHES);
  toolkit_write("cpu/count", "#!/bin/bash\ncp data.csv \"$1/step05.csv\"\n" FINISHES);
  toolkit_write("data.csv",
                "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"
                "source,global_load_requests,global_load_sectors,block_barriers\n"
                "05_wmma,,Emulated,fp16,1,1,1,256,256,64,0,emulator,4000,5500,7\n");
  cr_assert_eq(toolkit_run("cp cpu/calibrate gpu; chmod +x cpu/* gpu/*").status, 0);
}

Test(counters, calibration_asks_for_the_metrics_once) {
  write_calibration();
  const script_result result =
      toolkit_run("NCU=bin/ncu scripts/calibrate.sh data cpu gpu 05_wmma 2>&1; wc -l <queries");
  EXPECT(result, "warning: global_store_requests lacks a part",
         "warning: shared_store_wavefronts lacks a part", "kernel column expected emulator ncu",
         "first global_load_requests 3000 3000 3000 0.00 %\n", "first block_barriers 1 1 - -\n",
         "second global_load_requests 1500 1500 2000 -25.00 % *\n",
         "05_wmma global_load_requests - 4000 5000 -20.00 % *\n",
         "05_wmma global_load_sectors - 5500 5000 10.00 % *\n", "05_wmma block_barriers - 7 - -\n",
         "written: data/calibration.csv\n1\n");
  int warnings = 0;
  for (const char *at = result.out; (at = strstr(at, "warning: ")); at++) warnings++;
  const script_result lines = toolkit_run("grep -c '^[^#].*store' scripts/ncu_metrics.txt");
  cr_expect_eq(warnings, atoi(lines.out), "%s", result.out);
}

// The record has the answers on paper, the emulator's counts and the GPU's under their names. Wavefronts may be 5 % away
// and other counts 2 %, and an answer that the emulator misses is a failure.
Test(counters, calibration_judges_and_records) {
  write_calibration();
  toolkit_write("data.csv",
                "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,"
                "source,global_load_requests,global_load_sectors,shared_load_wavefronts\n"
                "05_wmma,,Emulated,fp16,1,1,1,256,256,64,0,emulator,5100,5150,5200\n");
#define CALIBRATE                                                                                  \
  "NCU=bin/ncu LAB_COMMIT=here scripts/calibrate.sh data cpu gpu 05_wmma 2>/dev/null; "            \
  "status=$?; cut -d , -f 1-7 data/calibration.csv; exit $status"
  script_result result = toolkit_run(CALIBRATE);
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, " 5100 5000 2.00 %\n", " 5150 5000 3.00 % *\n",
         "shared_load_wavefronts - 5200 5000 4.00 %\n",
         " 0 of the emulator differ from the answer on paper, ",
         "kernel,column,expected,emulator,ncu,difference,commit\n",
         "first,block_barriers,1,1,,,here\n",
         "second,global_load_requests,1500,1500,2000,-25.00,here\n",
         "05_wmma,global_load_sectors,,5150,5000,3.00,here\n");
  toolkit_run("sed -i s/1500,1500/1500,1501/ cpu/calibrate");
  result = toolkit_run(CALIBRATE);
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "second global_load_requests 1500 1501 WRONG 2000 ",
         "1 of the emulator differ from the answer on paper",
         "second,global_load_requests,1500,1501,2000,");
}

// Several verbs may count at a time: no row of one is lost by another.
Test(counters, rows_that_come_at_once_are_all_kept) {
  const script_result result =
      toolkit_run("for i in 1 2 3 4 5 6 7 8; do printf 'step,source\\n0%d_x,emulator\\n' $i | "
                  "scripts/record_counts.sh data >/dev/null & done; wait; grep -c '^0[1-8]_x,' "
                  "data/counts.csv; "
                  "for i in 1 2 3 4 5 6 7 8; do printf 'step,file\\n0%d_x,a.cu\\n' $i | "
                  "scripts/record_count_lines.sh data & done; wait; grep -c '^0[1-8]_x,' "
                  "data/counts-lines.csv; "
                  "ls data");
  cr_expect_str_eq(result.out, "8\n8\ncounts-lines.csv\ncounts.csv\n", "%s", result.out);
}

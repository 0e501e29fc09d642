// Tests the recipes beside the exercises: new steps, the debugger, and ncu's five metrics.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

TestSuite(recipes, .init = lab_enter, .fini = lab_leave);

// A new step is only a folder: it is built, found by its number, and right, as its origin is.
Test(recipes, a_new_step, .timeout = 120) {
#define NEW "scripts/workshop/new.sh %s/steps "
  EXPECT_STATUS(
      lab_run("mkdir -p %s/steps && cp -r steps/01_naive steps/04_online_softmax %s/steps",
              lab_work, lab_work),
      0);
  script_result result = lab_run(NEW "11_trial", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "/steps/11_trial/attention.cu and README.md, from 04_online_softmax");
  result = lab_run("cd %s/steps/11_trial && head -qn 1 README.md attention.cu", lab_work);
  EXPECT(result, "# 11 trial: ", "// 11_trial: ");
  result = lab_run("grep '^// After' %s/steps/11_trial/attention.cu", lab_work);
  cr_expect_str_eq(result.out, "// After: 04_online_softmax\n", "%s", result.out);
  result = lab_run("tail -n 1 %s/steps/11_trial/README.md", lab_work);
  EXPECT(result, "`make step11 diff`");
  result = lab_run("mkdir -p %s/lab/steps && cp -r scripts %s/lab && "
                   "cp -r %s/steps/11_trial %s/lab/steps && "
                   "%s/lab/scripts/pages.sh steps/11_trial/README.md",
                   lab_work, lab_work, lab_work, lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  result = lab_run("grep -e '\"04_online_softmax' -e exercise %s/steps/11_trial/*", lab_work);
  cr_expect_str_eq(result.out, "", "the old name or a mark is left: %s", result.out);
  result = lab_run(MAKE UNOPTIMISED "step11 run STEPS_FOLDER=%s/steps ARGS='--seq 33 --causal'",
                   lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "step 11_trial: what it adds, in a few words", "check ok");
  result = lab_run(NEW "11_other", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: there is a step 11 already: ");
  result = lab_run(NEW "trial", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: STEP is \"trial\": give two digits and a name");
  result = lab_run(NEW "12_trial 07", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: there is no step 07 to start from");
  EXPECT_STATUS(lab_run("ls -d %s/steps/12_*", lab_work), 2);
  EXPECT_STATUS(lab_run("cp -r steps/21_gather %s/steps && " NEW "31_trial 21", lab_work, lab_work),
                0);
  result = lab_run("sed -n '/^.. [A-Z][A-Za-z]*: /p' %s/steps/31_trial/attention.cu", lab_work);
  cr_expect_str_eq(result.out, "// Needs: sm_90a\n// GPUs: several\n// After: 21_gather\n", "%s",
                   result.out);
}

// On a terminal, and only there, a build says which file it compiles, and removes that line afterwards.
Test(recipes, a_build_says_what_it_is_at, .timeout = 120) {
  needs_tool("script");
#define BUILD_TRIAL MAKE UNOPTIMISED "step01 build STEPS_FOLDER=%s/steps"
  EXPECT_STATUS(lab_run("mkdir -p %s/steps && cp -r steps/01_naive %s/steps", lab_work, lab_work),
                0);
  script_result result = lab_run("script -qec \"" BUILD_TRIAL "\" /dev/null", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "building 01_naive/attention.cu.o\033[K", "\033[Kbuilt: ");
  result = lab_run("touch %s/steps/01_naive/attention.cu && " BUILD_TRIAL, lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  cr_expect_null(strstr(result.out, "building"), "it is no terminal: %s", result.out);
  cr_expect_null(strchr(result.out, '\033'), "escape codes: %s", result.out);
}

// The emulator imitates an H200 by default, which has everything that the steps need; a GPU may lack it.
Test(recipes, help_names_the_steps_that_are_skipped) {
  script_result result = lab_run(MAKE "help");
  EXPECT_STATUS(result, 0);
  cr_expect_null(strstr(result.out, "Skipped"), "%s", result.out);
  result = lab_run(MAKE "help DEVICE=gpu CUDA_HOME=/none ARCH=sm_80");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Skipped with DEVICE=gpu that lacks what they need: 10_tma ");
}

// On an imitated GPU a step is skipped, or refused if it is the only one, as on the real GPU.
Test(recipes, steps_need_no_more_than_the_gpu_has) {
  const struct {
    const char *gpu;
    const char *architecture;
  } cases[] = {{"t4", "sm_75"}, {"a100", "sm_80"}, {"l4", "sm_89"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[64];
    script_result result = lab_run(MAKE "say-device EMU_GPU=%s", cases[i].gpu);
    EXPECT_STATUS(result, 0);
    snprintf(words, sizeof words, ": needs sm_90a, the emulated GPU is %s\n",
             cases[i].architecture);
    EXPECT(result, "SKIP ", words);
    result = lab_run("EMU_GPU=%s " MAKE "STEPS=01_naive say-device", cases[i].gpu);
    EXPECT_STATUS(result, 0);
    cr_expect_null(strstr(result.out, "SKIP"), "%s", result.out);
    result = lab_run(MAKE "DEVICE=gpu CUDA_HOME=/none ARCH=%s say-device", cases[i].architecture);
    EXPECT_STATUS(result, 0);
    snprintf(words, sizeof words, ": needs sm_90a, this GPU is %s\n", cases[i].architecture);
    EXPECT(result, "SKIP ", words);
  }
  // The last step for Hopper GPUs, whatever its number.
  script_result result = lab_run(MAKE "step$(grep -l '^// Needs: sm_90a' steps/*/attention.cu | "
                                      "tail -n 1 | sed 's,steps/,,; s,_.*,,') run EMU_GPU=l4 2>&1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "SKIP ", ": needs sm_90a, the emulated GPU is sm_89",
         "error: nothing was done: none of these steps can run on the emulated GPU");
  // So are tests of the emulator that run on a GPU as well.
#define TESTS                                                                                      \
  "-n check-now DEVICE=gpu CUDA_HOME=/none ARCH=%s | grep -o -e 'SKIP .*' "                        \
  "-e '/gpu/tests/emulator/[^ ]*'"
  result = lab_run(MAKE TESTS, "sm_75");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "SKIP emulator/", " emulator/test_wmma ", ": they need sm_80 or newer",
         "/gpu/tests/emulator/test_block\n");
  cr_expect_null(strstr(result.out, "/gpu/tests/emulator/test_wmma"), "%s", result.out);
  result = lab_run(MAKE TESTS, "sm_80");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "/gpu/tests/emulator/test_wmma\n");
  cr_expect_null(strstr(result.out, "SKIP emulator"), "%s", result.out);
  result = lab_run(MAKE "help EMU_GPU=voodoo2");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "EMU_GPU is \"voodoo2\", which the emulator does not know: use one of t4 a100 l4");
  result = lab_run(MAKE "say-device EMU_GPU=h200");
  EXPECT_STATUS(result, 0);
  cr_expect_null(strstr(result.out, "SKIP"), "%s", result.out);
}

// make knows the emulated GPUs with the same data as the emulator.
Test(recipes, the_list_of_gpus_is_the_emulators) {
  const script_result listed =
      lab_run("sed -n 's/^\\(sm_[^ ]*\\) *\\([a-z][^ ]*\\) *\\([0-9]*\\) .*/\\2 \\1 \\3/p' "
              "scripts/gpus.txt | sort");
  const script_result emulated = lab_run(
      "awk -F ' = ' '/\\.key/ { key = $2; gsub(/[^a-z0-9]/, \"\", key) } "
      "/\\.major/ { major = $2 + 0 } /\\.minor/ { minor = $2 + 0 } "
      "/\\.shared_per_block_opt_in/ { print key, \"sm_\" major minor "
      "(major == 9 ? \"a\" : \"\"), int($2 / 1024) }' common/emulator/runtime/gpu.c | sort");
  cr_expect_str_eq(listed.out, emulated.out, "scripts/gpus.txt:\n%sgpu.c:\n%s", listed.out,
                   emulated.out);
  cr_expect(strstr(listed.out, "t4 sm_75 64\n"), "%s", listed.out);
}

// Skips the test where gdb does not work, or has no Python that the test needs. Else builds step 01 for it: of tests that
// run beside each other one compiles, and the others wait for its files.
static void needs_gdb(bool python) {
  needs_tool("gdb");
  if (strstr(lab_run("gdb -batch -ex run --args true").out, "ptrace"))
    cr_skip_test("gdb may not trace");
  if (python && !strstr(lab_run("gdb -batch -ex 'python print(1)'").out, "1\n"))
    cr_skip_test("gdb knows no Python");
  EXPECT_STATUS(
      lab_run("mkdir -p build/cpu-debug && flock build/cpu-debug " MAKE "DEBUG=1 step01 build"), 0);
}

// The debugger stops in the requested thread, and knows CUDA's names.
Test(recipes, gdb_stops_in_a_thread, .timeout = 120) {
  needs_gdb(false);
  script_result result =
      lab_run("printf 'print threadIdx.x\\nprint blockIdx\\nnext\\nprint index\\n' | " MAKE
              "step01 gdb BLOCK=2 THREAD=5 ARGS='--seq 32'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "hit Breakpoint 1", "scores_kernel", "at steps/01_naive/attention.cu:", "$1 = 5",
         "$2 = {x = 2, y = 0, z = 0}", "$3 = 517");
  result = lab_run("THREAD=five scripts/workshop/gdb.sh cpu true steps/01_naive/attention.cu");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: \"five\" is no number: give BLOCK=x,y,z and THREAD=x");
  result = lab_run("COUNT=x scripts/workshop/gdb.sh cpu true steps/01_naive/attention.cu");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: COUNT is \"x\": give the number of lines");
}

// A breakpoint of the reader's stops in the chosen thread alone, so `next` stays there as well.
Test(recipes, gdb_stays_in_its_thread, .timeout = 120) {
  needs_gdb(true);
  script_result result = lab_run(
      "line=$(grep -n 'const int key = ' steps/01_naive/attention.cu | head -n 1 | cut -d : -f 1); "
      "printf '%%s\\n' \"break $line\" continue 'print threadIdx.x' next 'print threadIdx.x' "
      "'print blockIdx.x' continue | " MAKE
      "step01 gdb BLOCK=1 THREAD=70 ARGS='--batch 1 --heads 1 --seq 20'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Breakpoint 2 at ", "const int key", "$1 = 70\n", "$2 = 70\n", "$3 = 1\n",
         "exited normally");
  result = lab_run(MAKE "step01 gdb BLOCK=0,7 ARGS='--seq 8' </dev/null");
  EXPECT(result,
         "The program has ended, and thread 0 of block (0,7,0) never entered scores_kernel");
}

// The source lines of one thread in order, each with the values that it changes.
Test(recipes, a_trace, .timeout = 120) {
  needs_gdb(true);
  script_result result =
      lab_run(MAKE "step01 trace BLOCK=2 THREAD=5 ARGS='--batch 1 --heads 1 --seq 32'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "scores_kernel:\n",
         "const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;", " index = 517\n",
         "const int key = index % shape.seq_kv;\n", " key = 5\n", " row = 16\n", "visible_keys:\n",
         "scores_kernel:\n", "float sum = 0.0f;\n", " sum = 0\n",
         "for (int d = 0; d < shape.head_dim; d++) sum += to_float(q[d]) * to_float(k[d]);\n",
         "to_float:\n", "S[index] = shape.scale * sum;\n", "The thread has left the kernel.\n");
  result = lab_run(MAKE "step01 trace BLOCK=2 COUNT=2 ARGS='--batch 1 --heads 1 --seq 32'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, " index = 512\n", "const int key", "These were COUNT=2 lines");
  result = lab_run(MAKE "step01 trace BLOCK=9,9 ARGS='--seq 8'");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "thread 0 of block (9,9,0) never entered scores_kernel");
  EXPECT_STATUS(lab_run("TRACE=1 scripts/workshop/gdb.sh gpu true steps/01_naive/attention.cu"), 2);
  // Of a reader's part between the lab's other parts it shows no line of these, which are solutions.
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 01_naive"), 0);
  result = lab_run(MAKE UNOPTIMISED "step01 trace PART=2 ARGS='--batch 1 --heads 1 --seq 32'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "scores_kernel:\n", "const int key", " ...\n", " sum = 0\n",
         " has left the kernel");
  cr_expect_null(strstr(result.out, "S[index] = "), "%s", result.out);
}

Test(recipes, what_needs_a_gpu_says_so) {
  script_result result = lab_run(MAKE "step05 ncu");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: ncu reads a GPU's counters", "make step05 count");
  result = lab_run(MAKE "step05 racecheck");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: racecheck is a tool of NVIDIA's compute-sanitizer",
         "make step05 sanitize");
  result = lab_run(MAKE "splits");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: splits measures times", "a machine with a GPU (make ladder counts here");
  result = lab_run(MAKE "groups");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: groups measures times",
         "a machine with several GPUs (make step23 count GPUS=2 counts here");
}

// ncu's numbers are of the problem on which the ladder times the steps, and of a small one where scores are stored.
Test(recipes, ncu_takes_the_problem_of_the_ladder) {
#define NCU_OF(step, more)                                                                         \
  "-n " step " ncu DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a " more "| grep -A3 workshop/ncu.sh"
  script_result result = lab_run(MAKE NCU_OF("step06", ""));
  EXPECT_STATUS(result, 0);
  EXPECT(result, "ncu.sh build/gpu/step06 build/gpu/step05 -- ", "$(build/gpu/ladder --options)",
         "This is the problem of make ladder");
  result = lab_run(MAKE NCU_OF("step02", ""));
  EXPECT_STATUS(result, 0);
  EXPECT(result, "ncu.sh build/gpu/step02 build/gpu/step01 -- ",
         "--batch 4 --heads 8 --seq 512 --dim 64", "This is a small problem");
  result = lab_run(MAKE NCU_OF("step06", "ARGS='--seq 64' "));
  cr_expect(!strstr(result.out, "--options") && !strstr(result.out, "--heads"), "%s", result.out);
  result =
      lab_run("make -s -f make/build.mk DEVICE=cpu build/cpu/ladder && build/cpu/ladder --options");
  cr_expect_str_eq(result.out, "--batch 1 --heads 4 --seq 256 --dim 64\n", "%s", result.out);
}

// Few queries and many keys are no problem for a step that divides the tiles of many queries.
Test(recipes, splits_of_the_problem_that_a_step_is_made_for) {
#define SPLITS_OF(step, more) "-n " step " splits DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a " more
  script_result result = lab_run(MAKE SPLITS_OF("step18", ""));
  EXPECT(result, "step18.so:splits -- ", "--heads 32 --kv-heads 8 --seq-q 1 --seq-kv 16384");
  result = lab_run(MAKE SPLITS_OF("step24", ""));
  EXPECT(result, "step24.so:splits -- ", "--batch 1 --heads 4 --seq-q 1024 --seq-kv 8192\n");
  result = lab_run(MAKE SPLITS_OF("step24", "ARGS='--seq 64' "));
  cr_expect_null(strstr(result.out, "--heads"), "%s", result.out);
}

// Where the ladder refuses an option, it names a step that takes it.
Test(recipes, the_ladder_names_a_step_for_what_it_refuses) {
  script_result result = lab_run(MAKE "-s -f make/build.mk build/cpu/ladder build/cpu/step01.so");
  EXPECT_STATUS(result, 0);
#define LADDER "env -u BXFI_MAP build/cpu/ladder results none build/cpu/step01.so -- "
  result = lab_run(LADDER "--splits 4");
  EXPECT_STATUS(result, 2);
  EXPECT(result,
         "error: the ladder takes no --splits: give it to one step's program, such as step18");
  result = lab_run(LADDER "--config 64x32x4");
  EXPECT_STATUS(result, 2);
  EXPECT(result,
         "error: the ladder takes no --config: give it to one step's program, such as step04");
}

// An ncu that knows no metric of bank conflicts, and whose report of a program is a table of its name: one
// kernel for step05, two for step04.
#define NCU                                                                                        \
  "#!/bin/bash\n"                                                                                  \
  "if [ \"$1\" = --query-metrics ]; then\n"                                                        \
  "  printf '%s Counter\\n' gpu__time_duration dram__throughput sm__warps_active \\\n"             \
  "    smsp__thread_inst_executed_per_inst_executed; exit\nfi\n"                                   \
  "if [ \"$1\" = --import ]; then cat \"$2\"; exit; fi\n"                                          \
  "while [ \"$1\" != --export ]; do shift; done\n"                                                 \
  "echo \"$*\" >>ran; echo 'shape      batch 4, heads 32, seq 4096'\n"                             \
  "{ echo '\"ID\",\"Block Size\",\"gpu__time_duration.sum\","                                      \
  "\"dram__throughput.avg.pct_of_peak_sustained_elapsed\","                                        \
  "\"sm__warps_active.avg.pct_of_peak_sustained_active\","                                         \
  "\"smsp__thread_inst_executed_per_inst_executed.ratio\"'\n"                                      \
  "echo '\"\",\"\",\"ns\",\"%\",\"%\",\"\"'\n"                                                     \
  "echo '\"0\",\"(32, 1, 1)\",\"1,000,000\",\"40\",\"25\",\"32\"'\n"                               \
  "case $2 in *step04) echo '\"1\",\"(32, 1, 1)\",\"3,000,000\",\"80\",\"50\",\"16\"' ;; esac\n"   \
  "} >$2.ncu-rep\n" FINISHES

TestSuite(metrics, .init = toolkit_enter, .fini = toolkit_leave);

Test(metrics, five_with_ratios) {
  toolkit_write("bin/ncu", NCU);
  cr_assert(chmod("bin/ncu", 0700) == 0);
  const script_result result = toolkit_run(
      "NCU=bin/ncu scripts/workshop/ncu.sh bin/step05 bin/step04 -- --seq 64 2>&1; cat ran");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "warning: bank_conflicts lacks a part", "shape batch 4, heads 32, seq 4096\n",
         "metric step05 step04 step05 / step04\n", "ms, duration 1 4 0.25\n",
         "% of DRAM bandwidth 40 70 0.57\n", "% occupancy 25 43.75 0.57\n",
         "% warp efficiency 100 62.5 1.60\n", "shared bank conflicts - - -\n",
         "written: build/ncu/step05.ncu-rep\nwritten: build/ncu/step04.ncu-rep\n",
         "--export build/ncu/step05 bin/step05 --no-check --no-time --seq 64\n");
}

// The numbers that make count and make budget write, against answers on paper.
#define _GNU_SOURCE
#include "lab.h"

static void enter(void) {
  lab_enter();
  EXPECT_STATUS(
      lab_run(MAKE "-f make/build.mk --silent MODE= build/cpu/budget build/cpu/step05.so"), 0);
  EXPECT_STATUS(lab_run(MAKE "-f make/build.mk --silent MODE=count build/cpu-count/count "
                             "build/cpu-count/step01.so"),
                0);
}

TestSuite(tools, .init = enter, .fini = lab_leave, .timeout = 120);

// S has 16 x 16 floats, 32 sectors, and O 16 x 64 halves, 64 sectors, which 32 warps store. The lines add up to the sums,
// and the busiest come first.
Test(tools, counts_of_lines_add_up) {
  script_result result =
      lab_run("build/cpu-count/count $LAB_WORK build/cpu-count/step01.so -- --seq 16");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "01_naive, 1x1x16x64 fp16\n", " share sectors and wavefronts line\n",
         " 64 steps/01_naive/attention.cu:", " O[index] = ", " 32 steps/01_naive/attention.cu:",
         " S[index] = ", "/step01.txt\n");
  result = lab_run(
      "cd $LAB_WORK && "
      "awk -F , 'FNR == 1 { n = split($0, name, \",\"); next } "
      "FILENAME ~ /lines/ { for (i = 14; i <= n; i++) sum[name[i]] += $i; next } "
      "{ for (i = 13; i <= n; i++) if ($i != sum[name[i]]) print name[i], $i, sum[name[i]] }' "
      "step01-lines.csv step01.csv");
  cr_expect_str_empty(result.out, "%s", result.out);
  result = lab_run("cut -d , -f 1-12 $LAB_WORK/step01.csv");
  EXPECT(result, ",causal,source\n01_naive,,Emulated NVIDIA H200,fp16,1,1,1,16,16,64,0,emulator\n");
  result = lab_run("grep -E 'sectors.*line$|O\\[index\\] = ' $LAB_WORK/step01.txt");
  EXPECT(result, " gl.loads x sectors gl.stores x sectors ", " 32 2.00 ", " O[index] = ");
  result = lab_run(
      "build/cpu-count/count $LAB_WORK build/cpu-count/step01.so -- --seq 16 | "
      "awk '/_(sectors|wavefronts) / { all += $2 } /%% .*:[0-9]/ { if (before != \"\" && $2 > "
      "before) "
      "print \"not in order: \" $0; before = $2; if (sprintf(\"%%.1f%%%%\", 100 * $2 / all) "
      "!= $1) print \"share: \" $0 }'");
  cr_expect_str_empty(result.out, "%s", result.out);
}

// Where the number of heads of Q is not given it is that of K and V. Behind a sum of sectors stands how many there are for
// each request, which the lines before it count.
Test(tools, counts_of_another_shape) {
  script_result result = lab_run("build/cpu-count/count $LAB_WORK build/cpu-count/step01.so -- "
                                 "--kv-heads 2 --seq-q 16 --seq-kv 32 | tee $LAB_WORK/printed");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "01_naive, 1x2x16x64 fp16, kv 1x2x32x64\n", " for each request\n");
  result = lab_run("cut -d , -f 5-11 $LAB_WORK/step01.csv");
  EXPECT(result, "1,2,2,16,32,64,0\n");
  result = lab_run("awk '/for each request/ { ratios++; if (sprintf(\"%%.2f\", $2 / before) != $3) "
                   "print } { before = $2 } END { print ratios, \"ratios\" }' $LAB_WORK/printed");
  cr_expect_str_eq(result.out, "2 ratios\n", "%s", result.out);
}

// The counts of a wrong step are printed, and its status says that it is wrong.
Test(tools, counts_of_a_wrong_step) {
  script_result result =
      lab_run(MAKE "-f make/build.mk --silent MODE=count build/cpu-count/sabotaged.so");
  EXPECT_STATUS(result, 0);
  static const char *const kinds[] = {"nothing", "zeros"};
  for (int wrong = 0; wrong < 2; wrong++) {
    result = lab_run("SABOTAGE=%s build/cpu-count/count $LAB_WORK build/cpu-count/sabotaged.so -- "
                     "--seq 16",
                     kinds[wrong]);
    EXPECT_STATUS(result, wrong);
    EXPECT(result, "/step00.txt\n");
    cr_expect(!strstr(result.out, "FAILED: 00_sabotaged: O is wrong at ") == !wrong, "%s",
              result.out);
  }
}

// Rows that say something else than bytes and limits do, and whether there are rows.
#define JUDGE_BUDGET                                                                               \
  "NR == FNR { limit[$2] = $3; next }\n"                                                           \
  "NF < 11 || !/x/ || /config/ { next }\n"                                                         \
  "{\n"                                                                                            \
  "  rows++\n"                                                                                     \
  "  words = sprintf(\"%.1f \", $3 / 1024) ($3 > 48 * 1024 ? \"opt-in\" : \"no\")\n"               \
  "  for (i = split(\"t4 l4 a100 h200\", gpu, \" \"); i > 0; i--) {\n"                             \
  "    one = i > 1\n"                                                                              \
  "    fit[i] = int((limit[gpu[i]] + one) * 1024 / ($3 + one * 1024))\n"                           \
  "    fit[i] = fit[i] (fit[i] == 1 ? \" block\" : \" blocks\")\n"                                 \
  "    if ($3 > 1024 * limit[gpu[i]]) fit[i] = \"too much\"\n"                                     \
  "    if (needs != \"\" && !one) fit[i] = \"no \" needs\n"                                        \
  "  }\n"                                                                                          \
  "  words = words \" \" fit[1] \" \" fit[2] \" \" fit[3] \" \" fit[4]\n"                          \
  "  said = $4\n"                                                                                  \
  "  for (i = 5; i <= NF; i++) said = said \" \" $i\n"                                             \
  "  if (said != words) print said \" is not \" words\n"                                           \
  "}\n"                                                                                            \
  "END { print (rows > 9 ? \"rows\" : \"no rows\") }\n"

// The limits are those of scripts/gpus.txt. From the A100 on a multiprocessor has 1 KB more than a block, and takes 1 KB of
// each block for itself.
Test(tools, budget_of_each_gpu) {
  char path[128];
  snprintf(path, sizeof path, "%s/judge.awk", lab_work);
  toolkit_write(path, JUDGE_BUDGET);
  static const char *const needs[] = {"", "sm_80"};
  for (int i = 0; i < 2; i++) {
    const script_result result = lab_run(
        "build/cpu/budget build/cpu/step05.so %s | awk -v needs=%s -f %s scripts/gpus.txt -",
        needs[i], needs[i], path);
    cr_expect_str_eq(result.out, "rows\n", "%s", result.out);
  }
  const script_result large = lab_run("build/cpu/budget build/cpu/step05.so | grep -c 'too much'");
  cr_expect_gt(atoi(large.out), 0, "no configuration is too large for a T4");
}

// A step whose configurations are named by the bytes of shared memory that they take, at a head_dim of 64 alone.
#define BUDGETED                                                                                   \
  "#include \"attention.h\"\n"                                                                     \
  "#include <stdlib.h>\n"                                                                          \
  "static const char *chosen = \"1\";\n"                                                           \
  "const char *attention_name(void) { return \"00_budgeted\"; }\n"                                 \
  "const char *attention_summary(void) { return \"\"; }\n"                                         \
  "const char *attention_unsupported(const attention_shape *s) { return s->head_dim == 64 ? 0 : "  \
  "\"no\"; }\n"                                                                                    \
  "size_t attention_workspace_bytes(const attention_shape *s) { return !s; }\n"                    \
  "cudaError_t attention_forward(const attention_args *a, cudaStream_t s) { return a && s; }\n"    \
  "const char *const *attention_configurations(void) {\n"                                          \
  "  static const char *const names[] = {\"49152\", \"49153\", \"65536\", \"65537\", \"101376\", " \
  "\"101377\", \"166912\", \"166913\", \"232448\", \"232449\", 0};\n"                              \
  "  return names;\n"                                                                              \
  "}\n"                                                                                            \
  "bool attention_configure(const char *name) { return chosen = name ? name : \"1\"; }\n"          \
  "const char *attention_configuration(const attention_shape *s) { return s ? chosen : 0; }\n"     \
  "size_t attention_shared_memory_bytes(const attention_shape *s) { return s ? atoi(chosen) : 0; " \
  "}\n"

// At each limit, and a byte beyond it: 48 KB without asking; 64, 99, 163 and 227 KB of a block.
Test(tools, budget_at_the_limits) {
  char path[128];
  snprintf(path, sizeof path, "%s/step.c", lab_work);
  toolkit_write(path, BUDGETED);
  script_result result = lab_run("gcc -shared -fPIC -Icommon -Icommon/emulator/include "
                                 "-Icommon/emulator $LAB_WORK/step.c -o $LAB_WORK/step.so && "
                                 "build/cpu/budget $LAB_WORK/step.so");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "00_budgeted: shared memory of a block",
         "49152 64 49152 48.0 no 1 block 2 blocks 3 blocks 4 blocks",
         "49153 64 49153 48.0 opt-in 1 block 2 blocks 3 blocks 4 blocks",
         "65536 64 65536 64.0 opt-in 1 block 1 block 2 blocks 3 blocks",
         "65537 64 65537 64.0 opt-in too much 1 block 2 blocks 3 blocks",
         "101376 64 101376 99.0 opt-in too much 1 block 1 block 2 blocks",
         "101377 64 101377 99.0 opt-in too much too much 1 block 2 blocks",
         "166912 64 166912 163.0 opt-in too much too much 1 block 1 block",
         "166913 64 166913 163.0 opt-in too much too much too much 1 block",
         "232448 64 232448 227.0 opt-in too much too much too much 1 block",
         "232449 64 232449 227.0 opt-in too much too much too much too much");
}

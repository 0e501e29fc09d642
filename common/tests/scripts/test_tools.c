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

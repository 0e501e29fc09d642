// Tests the exit statuses of the tools: 2 for input that makes no sense and for output that cannot be written, 1 for a
// step that is wrong.
#define _GNU_SOURCE
#include "lab.h"

static void enter(void) {
  lab_enter();
  EXPECT_STATUS(lab_run(MAKE "-f make/build.mk --silent MODE= build/cpu/ladder build/cpu/budget "
                             "build/cpu/mutants build/cpu/compare build/cpu/step01.so "
                             "build/cpu/step05.so"),
                0);
  EXPECT_STATUS(lab_run(MAKE "-f make/build.mk --silent MODE=count build/cpu-count/count "
                             "build/cpu-count/step01.so build/cpu-count/sabotaged.so"),
                0);
}

TestSuite(statuses, .init = enter, .fini = lab_leave, .timeout = 120);

#define COUNT  "build/cpu-count/count $LAB_WORK build/cpu-count/"
#define LADDER "build/cpu/ladder $LAB_WORK/data statuses build/cpu/step01.so -- "
#define PEERS  "plots/data/nvidia-h200/peers.csv"

Test(statuses, what_the_tools_refuse_and_find_wrong) {
  static const struct {
    const char *command;
    int status;
    const char *words;
  } cases[] = {
      {COUNT "step01.so -- --seq 16 --emu-seed 7", 0, "01_naive"},
      {COUNT "step01.so -- --seq 16 --mpi", 2, "error: count takes no --mpi"},
      {COUNT "step01.so -- --seq 16 --gpus 2", 2, "error: 01_naive works on one GPU"},
      {"SABOTAGE=zeros " COUNT "sabotaged.so -- --seq 16", 1, "FAILED: 00_sabotaged: O is wrong"},
      {"SABOTAGE=launch " COUNT "sabotaged.so -- --seq 16", 1, "launching the step failed"},
      {"build/cpu/budget build/cpu/step05.so sm_90a", 0, "sm_90a"},
      {"build/cpu/budget build/cpu/step05.so sm_", 2, "error: \"sm_\" is no architecture"},
      {"build/cpu/budget build/cpu/step05.so sm_80x", 2, "error: \"sm_80x\" is no architecture"},
      {"build/cpu/mutants write steps/05_wmma/attention.cu 3 $LAB_WORK/3.cu", 0, ""},
      {"build/cpu/mutants write steps/05_wmma/attention.cu 3a $LAB_WORK/3.cu", 2,
       "error: the mutant's number is \"3a\""},
      {"build/cpu/mutants write steps/05_wmma/attention.cu 99999 $LAB_WORK/3.cu", 2,
       "error: the mutant's number is 99999: the largest it can be is "},
      {LADDER "--batch 1 --heads 1 --seq 1 --dim 1", 0,
       "  0.000  "}, // neither an error nor a bound
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run("%s", cases[i].command);
    cr_expect_eq(result.status, cases[i].status, "%s: it ended with %d: %s", cases[i].command,
                 result.status, result.out);
    cr_expect(strstr(result.out, cases[i].words), "%s: %s", cases[i].command, result.out);
  }
}

Test(statuses, output_that_cannot_be_written) {
  static const char *const commands[] = {
      COUNT "step01.so -- --seq 16",          LADDER "--batch 1 --heads 1 --seq 16",
      "build/cpu/budget build/cpu/step05.so", "build/cpu/mutants operators",
      "build/cpu/compare " PEERS " " PEERS,   "build/cpu/compare --help",
  };
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const script_result result = lab_run("{ %s >/dev/full; }", commands[i]);
    cr_expect_eq(result.status, 2, "%s: it ended with %d: %s", commands[i], result.status,
                 result.out);
    cr_expect(strstr(result.out, "error: writing to standard output failed: No space left"),
              "%s: %s", commands[i], result.out);
  }
}

// Counts are recorded by the step's name and number, so a copy must not have another step's.
Test(statuses, a_copy_that_has_the_name_of_another_step, .timeout = 240) {
#define COUNT_MINE MAKE UNOPTIMISED "-s step30 count STEPS_FOLDER=%s ARGS='--seq 9'"
  EXPECT_STATUS(lab_run("cp -r steps/01_naive %s/30_mine", lab_work), 0);
  script_result result = lab_run(COUNT_MINE, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: the step of ", "/30_mine/attention.cu calls itself 01_naive, and its ",
         "let its attention_name return \"30_mine\", as its folder is called\n");
  EXPECT_STATUS(
      lab_run("sed -i '/attention_name/s/01_naive/30_mine/' %s/30_mine/attention.cu", lab_work), 0);
  result = lab_run(COUNT_MINE " && rm build/count/step30*", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "written: build/count/step30.txt");
}

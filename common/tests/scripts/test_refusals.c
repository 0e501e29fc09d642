// Settings and goals that a verb would leave out without a word, or take in another way than they are meant: refused in a
// sentence, before anything is built or recorded.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(refusals, .init = lab_enter, .fini = lab_leave);

// A GPU is not needed to be refused.
#define ON_GPU "DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a "

typedef struct {
  const char *words; // goals and settings
  const char *sentence;
} refusal;

static void expect_refused(const refusal *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const script_result result = lab_run(MAKE "%s", cases[i].words);
    cr_expect_eq(result.status, 2, "%s ended with %d", cases[i].words, result.status);
    cr_expect(strstr(result.out, cases[i].sentence), "%s: %s", cases[i].words, result.out);
  }
}

#define REFUSED(...)                                                                               \
  do {                                                                                             \
    const refusal cases[] = {__VA_ARGS__};                                                         \
    expect_refused(cases, sizeof cases / sizeof *cases);                                           \
  } while (0)

Test(refusals, steps_are_named_once) {
  REFUSED({"step02 run STEPS=01_naive", "step02 and STEPS=\"01_naive\" both say which steps"},
          {"step02 sweep STEPS='01_naive 06_cp_async'", "both say which steps are meant: give one"},
          {"step02 step03 ladder STEPS='01_naive 06_cp_async'", "both say which steps are meant"});
  const script_result result = lab_run("STEPS=01_naive " MAKE "step02 run");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "both say which steps are meant: give one of them, and STEPS is in your environ");
}

// Steps of the command line are for the verb, and not for a make that a test calls.
Test(refusals, steps_are_not_those_of_a_test) {
  const script_result result = lab_run(MAKE "STEPS='01_naive 02_tiled' --eval "
                                            "'own:;@echo \"$$STEPS of $(STEPS)\"' own");
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(result.out, " of 01_naive 02_tiled\n", "%s", result.out);
}

// The parts of the record would be written over each other, or be of other problems.
Test(refusals, the_record_is_of_certain_problems) {
  REFUSED({"record NAME=mine " ON_GPU, "under its own name and options: leave NAME out"},
          {"record ARGS=--causal PARTS=ladder " ON_GPU, "leave ARGS out"},
          {"record CONFIG=64x64x4x2 " ON_GPU, "leave CONFIG out"},
          {"record DECODE=1 " ON_GPU, "leave DECODE out"},
          {"record STEPS=01_naive " ON_GPU, "leave STEPS out"},
          {"step04 record " ON_GPU, "leave step04 out, or write make step04 ladder"});
  const script_result result = lab_run(MAKE "-n record PARTS='ladder bench' FRESH=1 " ON_GPU);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "record: make ladder-now\n", "record: make bench\n");
}

// What these verbs plant, change and record is the lab's own source, whatever the first line of their output says.
Test(refusals, patches_are_of_the_labs_own_steps) {
  EXPECT_STATUS(lab_run("cp -r steps/04_online_softmax %s", lab_work), 0);
  REFUSED({"step04 bugs WORK=1", "make bugs works on the lab's own steps, in steps/: leave WORK=1"},
          {"step04 variants WORK=1", "make variants works on the lab's own steps"},
          {"step04 mutants WORK=1", "make mutants works on the lab's own steps"},
          {"step04 calibrate WORK=1", "make calibrate works on the lab's own steps"},
          {"step04 substeps STEPS_FOLDER=$LAB_WORK", "in steps/: leave STEPS_FOLDER out"},
          {"step04 variants SUBSTEP=2", "in steps/: leave SUBSTEP=2 out"},
          {"step04 substeps VARIANT=no_pad", "in steps/: leave VARIANT=no_pad out"});
  EXPECT_STATUS(lab_run(MAKE "-n step04 variants VARIANT=no_pad"), 0);
}

Test(refusals, a_configuration_is_for_few_verbs) {
  REFUSED(
      {"bench CONFIG=64x64x4x2 " ON_GPU, "make bench does not take it: leave it out."},
      {"step18 splits CONFIG=64x64x4x2 " ON_GPU, "make splits does not take it"},
      {"peers CONFIG=64x64x4x2 " ON_GPU, "make peers does not take it"},
      {"step06 ncu CONFIG=64x64x4x2 " ON_GPU, "make ncu does not take it: leave it out, or write"},
      {"step06 variants CONFIG=64x64x4x2", "make variants does not take it"},
      {"step06 bugs CONFIG=64x64x4x2", "make bugs does not take it"});
}

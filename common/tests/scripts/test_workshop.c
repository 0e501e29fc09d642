// The exercises: which files a participant gets, what the messages say about
// them, and that no work is lost. The files go to a folder of the test's own.
#define _GNU_SOURCE
#include "lab.h"
#include <glob.h>

// The file of step 04 that the scripts write.
static const char *file04(void) {
  static char path[128];
  snprintf(path, sizeof path, "%s/04_online_softmax/attention.cu", lab_work);
  return path;
}

TestSuite(workshop, .init = lab_enter, .fini = lab_leave);

static void expect_exercise(const char *source) {
  char step[64];
  cr_assert(sscanf(source, "steps/%63[^/]", step) == 1);
  script_result result = lab_run("scripts/workshop/exercise.sh start %s", step);
  EXPECT_STATUS(result, 0);
  result = lab_run("grep -c '// exercise' %s", source);
  const int parts = atoi(result.out);
  cr_expect(parts >= 1 && parts <= 4, "%s has %d exercises", step, parts);
  result = lab_run("grep -i exercise %s/%s/attention.cu", lab_work, step);
  cr_expect_eq(result.status, 1, "a mark is left in the skeleton of %s: %s", step, result.out);
  result = lab_run("grep -c '// TODO [0-9] of %d, about [1-9][0-9]* lines*:$' %s/%s/attention.cu",
                   parts, lab_work, step);
  cr_expect_eq(atoi(result.out), parts, "%s: %s", step, result.out);
  result = lab_run("diff %s %s/%s/attention.cu | grep -c '^<  *[^ /]'", source, lab_work, step);
  cr_expect_gt(atoi(result.out), parts - 1, "%s leaves nothing to write", step);
  // With its solution put back it is the step again.
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill %s", step), 0);
  result = lab_run("cmp %s %s/%s/attention.cu", source, lab_work, step);
  EXPECT_STATUS(result, 0);
}

Test(workshop, every_exercise) {
  glob_t found;
  cr_assert_eq(glob("steps/*/attention.cu", 0, NULL, &found), 0);
  int exercises = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    if (lab_run("grep -q '// exercise: ' %s", found.gl_pathv[i]).status != 0) continue;
    expect_exercise(found.gl_pathv[i]);
    exercises++;
  }
  globfree(&found);
  cr_expect_geq(exercises, 10);
}

// Runs in a lab with one new step and the one that it comes after.
Test(workshop, a_step_without_an_exercise) {
  EXPECT_STATUS(
      lab_run("mkdir -p %s/lab/steps/11_new %s/lab/steps/04_old && cp -r scripts %s/lab && grep -v "
              "exercise "
              "steps/17_lazy_max/attention.cu | grep -v After >%s/lab/steps/11_new/attention.cu && "
              "touch %s/lab/steps/04_old/attention.cu",
              lab_work, lab_work, lab_work, lab_work, lab_work),
      0);
  const script_result result =
      lab_run("%s/lab/scripts/workshop/exercise.sh start 11_new", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: step 11 has no marked exercise", "make step11 exercise FROM=04\n");
}

Test(workshop, three_hints_each) {
  const script_result result =
      lab_run("for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
              "awk '/^## / { if ($2 != ++count) exit 1; next } NF { text[count]++ } "
              "END { exit !(count == 3 && text[1] && text[2] && text[3]) }' "
              "${source%%attention.cu}hints.md || echo $source; done");
  cr_expect_str_eq(result.out, "", "not three hints in order: %s", result.out);
}

Test(workshop, hints_one_at_a_time) {
  for (int n = 1; n <= 3; n++) {
    const script_result result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
    EXPECT_STATUS(result, 0);
    char title[32];
    snprintf(title, sizeof title, "Hint %d of 3", n);
    cr_expect(strstr(result.out, title) == result.out, "%s", result.out);
    cr_expect_null(strstr(result.out + 1, "Hint "), "more than one: %s", result.out);
  }
  script_result result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "make step04 solution");
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, "04_online_softmax - - 3 -\n", "progress: 0 of 1 steps pass");
  result = lab_run("scripts/workshop/hint.sh");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: this verb works on one step: make step04 hint");
}

Test(workshop, work_is_never_lost) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  toolkit_write(file04(), "mine\n");
  script_result result = lab_run("scripts/workshop/exercise.sh start 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu is there already", "FORCE=1");
  EXPECT_STATUS(lab_run("grep -qx mine %s", file04()), 0);
  EXPECT_STATUS(lab_run("FORCE=1 scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("grep -qx mine %s.bak && grep -q TODO %s", file04(), file04()), 0);
  EXPECT_STATUS(lab_run("scripts/workshop/hint.sh 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh reset 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("grep -qx mine %s.bak*1* && grep -q TODO %s.bak", file04(), file04()), 0);
  result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3");
}

Test(workshop, from_the_step_before) {
  EXPECT_STATUS(lab_run("FROM=03 scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  script_result result = lab_run("head -n 4 %s; grep attention_name %s", file04(), file04());
  EXPECT(result, "// TODO 1 of 1, about ", " lines:\n// make 04_online_softmax of 03_3dgrid: one",
         "\n\n// 03_3dgrid: ", "{ return \"04_online_softmax\"; }");
  EXPECT_STATUS(lab_run("grep -q exercise %s", file04()), 1);
  result = lab_run("scripts/workshop/exercise.sh fill 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "has no TODO that step 04 has a solution for");
  result = lab_run("FROM=99 FORCE=1 scripts/workshop/exercise.sh start 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: there is no step 99");
}

Test(workshop, parts_are_filled_and_compared) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("PART=2 scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  script_result result = lab_run("scripts/workshop/source.sh %s", file04());
  EXPECT(result, "attention.cu (2 of 3 still to be written)");
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "TODO 1 of 3", "TODO 3 of 3");
  cr_expect_null(strchr(result.out, '\033'), "colour without a terminal");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "no difference");
}

// Two configurations of a step take every shape, and the others are most of what there is to compile.
#define NARROW "bash -c '. scripts/planted_bug.sh; bug_narrow $0' "

// All compile with every warning an error, and check says of each what is missing.
Test(workshop, skeletons_compile_and_fail, .timeout = 300) {
  EXPECT_STATUS(lab_run("for step in $(grep -l '// exercise: ' steps/*/attention.cu); do "
                        "step=${step%%/attention.cu}; scripts/workshop/exercise.sh start "
                        "${step#steps/} && " NARROW "%s/${step#steps/}/attention.cu || exit; done",
                        lab_work),
                0);
  script_result result = lab_run("scripts/workshop/progress.sh 03_3dgrid");
  EXPECT(result, "03_3dgrid ", " 4 of 4 - -\n", "0 of 1 steps pass");
  result = lab_run(MAKE UNOPTIMISED "build check-work WORK=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "04_online_softmax/attention.cu (3 of 3 still to be written)",
         "built: ", "3 of 3 parts of ",
         "04_online_softmax/attention.cu are still to be written:\n line ",
         ", about 3 lines: the whole row's new_max", "4 of 4 parts of ",
         "10_tma/attention.cu are still", "4 of 4 parts of ", "11_wgmma/attention.cu are still",
         "3 of 3 parts of ", "12_warp_specialized/attention.cu are still", " parts of ",
         "17_lazy_max/attention.cu are still");
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, "3 of 3 - failed on the cpu", "0 of 1 steps pass");
  // A thread that waits for a missing part is ended at once, with a report.
  result = lab_run("timeout 60 " MAKE UNOPTIMISED
                   "step12 run WORK=1 ARGS='--batch 1 --heads 1 --seq 100 --dim 64'");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "Deadlock: no thread of block (0,0,0) can go on",
         "wait at mbarrier.try_wait.parity in ",
         "12_warp_specialized/attention.cu:", "error: launching the step failed");
}

// check finds each part that a participant leaves out but marks as written, in the steps for Hopper GPUs.
static void expect_parts_missed(const char *source) {
  char step[64];
  cr_assert(sscanf(source, "steps/%63[^/]", step) == 1);
  const int parts = atoi(lab_run("grep -c '// exercise: ' %s", source).out);
  for (int part = 1; part <= parts; part++) {
    script_result result = lab_run(
        "export FORCE=1; scripts/workshop/exercise.sh start %s && for part in $(seq %d); do "
        "[ $part = %d ] || PART=$part scripts/workshop/exercise.sh fill %s || exit; done && "
        "sed -i '/ TODO /,+1d' %s/%s/attention.cu && " NARROW "%s/%s/attention.cu",
        step, parts, part, step, lab_work, step, lab_work, step);
    EXPECT_STATUS(result, 0);
    // Without a word of the compiler, which finds what nothing uses.
    result = lab_run(MAKE "STEP_FLAGS='-O0 -w' step%.2s check-work WORK=1 QUICK=1", step);
    EXPECT_STATUS(result, 2);
    EXPECT(result, " tests pass; the first that does not is ", "attention.cu fails\n");
  }
}

Test(workshop, every_part_is_missed, .timeout = 300) {
  glob_t found;
  cr_assert_eq(glob("steps/*/attention.cu", 0, NULL, &found), 0);
  int steps = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    if (lab_run("grep -q '^// Needs: ' %s", found.gl_pathv[i]).status != 0) continue;
    expect_parts_missed(found.gl_pathv[i]);
    steps++;
  }
  globfree(&found);
  cr_expect_geq(steps, 3);
}

// Tests the output for a mistake and for a finished part, with the suite itself.
Test(workshop, watch_shows_the_first_failure, .timeout = 300) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax && "
                        "sed -i 's/row_sum \\*= correction;//' %s",
                        file04()),
                0);
  const script_result result = lab_run(MAKE UNOPTIMISED "step04 watch ROUNDS=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "source: ", " tests pass; the first that does not is ", " is wrong at batch ",
         "04_online_softmax/attention.cu fails\n");
  cr_expect_null(strchr(result.out, '\033'), "escape codes without a terminal");
}

// A program of tests that prints the same lines as Criterion.
static void suite_says(const char *lines, int status) {
  char path[128], text[512];
  snprintf(path, sizeof path, "%s/step04-check", lab_work);
  snprintf(text, sizeof text, "#!/bin/bash\ncat <<'END'\n%s\nEND\nexit %d\n", lines, status);
  toolkit_write(path, text);
  cr_assert(chmod(path, 0700) == 0);
}

Test(workshop, progress_follows_the_file) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax"),
                0);
#define CHECK    "scripts/workshop/check.sh cpu %s 04_online_softmax", lab_work
#define PROGRESS "scripts/workshop/progress.sh 04_online_softmax"
  suite_says(
      "[----] x.c:1: Assertion Failed\n[----]\n[----]   first sentence\n[FAIL] shapes::a: (1s)\n"
      "[----]   second sentence\n[FAIL] shapes::b: (1s)\n"
      "[====] Synthesis: Tested: 9 | Passing: 7 | Failing: 2 | Crashing: 0",
      1);
  script_result result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "7 of 9 tests pass; the first that does not is shapes::a:\n first sentence\n",
         " fails\n");
  cr_expect_null(strstr(result.out, "second"), "%s", result.out);
  result = lab_run(PROGRESS);
  EXPECT(result, " 0 - failed on the cpu, ", "progress: 0 of 1 steps pass");
  suite_says("[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run(CHECK), 1); // nothing says that the tests came to their end
  suite_says(
      "finished: 9 tests\n[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run("QUICK=1 " CHECK), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, "failed on the cpu"); // a part of the tests proves nothing
  EXPECT_STATUS(lab_run(CHECK), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, " 0 - passed on the cpu, ", "progress: 1 of 1 steps pass");
  EXPECT_STATUS(lab_run("echo // >>%s", file04()), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, "changed since it passed", "progress: 0 of 1 steps pass");
  suite_says(
      "finished: 0 tests\n[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run(CHECK), 1);
}

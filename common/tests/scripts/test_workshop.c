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

Test(workshop, three_hints_for_each_part) {
  const script_result result =
      lab_run("for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
              "awk -v parts=$(grep -c '// exercise: ' $source) '/^## Part / { part++; hint = 0; "
              "if ($3 != part \":\") exit 1; next } /^### / { if ($2 != ++hint) exit 1; next } "
              "NF && part { text[part, hint]++ } END { good = part == parts; "
              "for (p = 1; p <= parts; p++) for (h = 1; h <= 3; h++) if (!text[p, h]) good = 0; "
              "exit !good }' ${source%%attention.cu}hints.md || echo $source; done");
  cr_expect_str_eq(result.out, "", "not three hints for each part: %s", result.out);
}

// The page of a step gives the time of each part, does not fill one in before the reader has begun it.
Test(workshop, each_part_has_its_time) {
  const script_result result = lab_run(
      "for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
      "page=${source%%attention.cu}README.md; "
      "[ $(grep -c '// exercise: ' $source) = $(sed -n '/^## Exercise/,/^## Measure/p' $page | "
      "grep -c '^| [0-9] | .* | [0-9]* |$') ] || echo $page; done; "
      "awk '/^<!-- sh /{ aside = 1 } /^-->/{ aside = 0 } !aside && /^[^`]*make step[0-9]* fill/ "
      "{ print FILENAME }' steps/*/README.md");
  cr_expect_str_eq(result.out, "", "%s", result.out);
}

Test(workshop, hints_one_at_a_time) {
  for (int n = 1; n <= 3; n++) {
    const script_result result = lab_run("PART=2 scripts/workshop/hint.sh 04_online_softmax");
    EXPECT_STATUS(result, 0);
    char title[64];
    snprintf(title, sizeof title,
             "Hint %d of 3 for part 2 of 04_online_softmax, the correction:", n);
    cr_expect(strstr(result.out, title) == result.out, "%s", result.out);
    cr_expect_null(strstr(result.out + 1, "Hint "), "more than one: %s", result.out);
    cr_expect_null(strstr(result.out, "max_over_lanes"), "of another part: %s", result.out);
  }
  script_result result = lab_run("PART=2 scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "make step04 fill PART=2");
  result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3 for part 1 of ");
  result = lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                   "PART=1 scripts/workshop/exercise.sh fill 04_online_softmax && "
                   "scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"); // of part 2, the first that is left
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, " 2 of 3 4 -\n", "progress: 0 of 1 steps pass");
  result = lab_run("scripts/workshop/hint.sh");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: this verb works on one step: make step04 hint");
  result = lab_run("PART=4 scripts/workshop/hint.sh 04_online_softmax");
  EXPECT_STATUS(result, 2);
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
  script_result result = lab_run("scripts/workshop/source.sh 04_online_softmax");
  EXPECT(result, "attention.cu, your own (2 of 3 parts still to be written)");
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "TODO 1 of 3", "TODO 3 of 3");
  cr_expect_null(strchr(result.out, '\033'), "colour without a terminal");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "no difference");
}

// All compile with every warning an error, each in its first configuration, and check says of each what is missing. A
// thread that waits for a missing part is ended at once, with a report.
Test(workshop, skeletons_compile_and_fail, .timeout = 300) {
  EXPECT_STATUS(
      lab_run(
          "for step in $(grep -l '// exercise: ' steps/*/attention.cu); do "
          "step=${step%%/attention.cu}; scripts/workshop/exercise.sh start ${step#steps/}; done"),
      0);
  script_result result = lab_run("scripts/workshop/progress.sh 03_3dgrid");
  EXPECT(result, "03_3dgrid ", " 4 of 4 - -\n", "0 of 1 steps pass");
  result = lab_run(MAKE UNOPTIMISED "check-work WORK=1 QUICK=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "04_online_softmax/attention.cu, your own (3 of 3 parts still to be written)",
         " tests pass; the first that does not is ", "3 of 3 parts of ",
         "04_online_softmax/attention.cu are still to be written:\n line ",
         ", about 3 lines: the whole row's new_max", "04_online_softmax/attention.cu fails\n",
         "4 of 4 parts of ", "10_tma/attention.cu are still", "4 of 4 parts of ",
         "11_wgmma/attention.cu are still", "Deadlock: no thread of block (0,0,0) can go on",
         "wait at mbarrier.try_wait.parity in ",
         "12_warp_specialized/attention.cu:", "3 of 3 parts of ",
         "12_warp_specialized/attention.cu are still", " parts of ",
         "17_lazy_max/attention.cu are still");
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, "3 of 3 - failed on the cpu", "0 of 1 steps pass",
         "next: part 1: the dot product of a row of Q", "then make step01 check PART=1\n");
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
        "sed -i '/ TODO /,+1d' %s/%s/attention.cu",
        step, parts, part, step, lab_work, step);
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
  EXPECT(result, " tests pass; the first that does not is ", " is wrong at batch ",
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
#define CHECK    "env STEP_FLAGS=-O0 scripts/workshop/check.sh cpu %s 04_online_softmax", lab_work
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
  result = lab_run(PROGRESS); // a part of the tests is not all
  EXPECT(result, " 0 - passed the quick tests on the cpu, ",
         "progress: 0 of 1 steps pass, 1 pass the quick tests\n",
         "next: make step04 check runs the largest tests too\n");
  result = lab_run(CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "attention.cu passes, and meets the goals of the step:\n met ",
         "next: read steps/05_wmma/README.md, then make step05 exercise\n");
  EXPECT_STATUS(lab_run("QUICK=1 " CHECK), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, " 0 - passed on the cpu, ", "progress: 1 of 1 steps pass");
  EXPECT_STATUS(lab_run("echo // >>%s", file04()), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, "changed since it passed", "progress: 0 of 1 steps pass");
  suite_says(
      "finished: 0 tests\n[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run(CHECK), 1);
}

// The tests run whatever the comments say, and a part counts as written when something stands below its TODO.
Test(workshop, a_part_below_its_todo) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && sed -i "
                        "'s|^  const float correction = 1.0f; // until then|  const float "
                        "correction = 2.0f;|' %s",
                        file04()),
                0);
  suite_says(
      "finished: 9 tests\n[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  script_result result = lab_run(CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "attention.cu passes, and meets the goals");
  suite_says("[FAIL] shapes::a: (1s)\n[====] Synthesis: Tested: 9 | Passing: 8", 1);
  result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "the first that does not is shapes::a:\n2 of 3 parts of ",
         "attention.cu are still to be written:\n line ", ": the whole row's", " line ",
         ": the lane's probabilities", "attention.cu fails\n");
}

// A part that is right passes the quick tests while the others, which are the lab's meanwhile, are still to be written.
Test(workshop, a_part_takes_the_tests_that_are_asked_for) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  suite_says("$*\nfinished: 9 tests\n"
             "[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0",
             0);
  EXPECT_STATUS(lab_run("sed -i \"s/<<'END'/<<END/; s|^cat|tee %s/said|\" %s/step04-check",
                        lab_work, lab_work),
                0);
  script_result result = lab_run("PART=1 QUICK=1 " CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "check: part 1 of ", "passes the quick tests, with the lab's other parts\n");
  result = lab_run("cat %s/said", lab_work);
  EXPECT(result, "--fail-fast --filter !(other_gpus)/!(more_*|each_is_sanitized) ");
  result = lab_run("PART=1 " CHECK);
  EXPECT_STATUS(result, 0);
  result = lab_run("cat %s/said", lab_work);
  cr_expect_null(strstr(result.out, "--fail-fast"), "%s", result.out);
}

Test(workshop, a_file_of_the_step_before_is_left_until_it_changes) {
  EXPECT_STATUS(lab_run("FROM=05 scripts/workshop/exercise.sh start 06_cp_async"), 0);
  script_result result = lab_run("scripts/workshop/source.sh 06_cp_async");
  EXPECT(result, "(1 of 1 parts still to be written)");
  result = lab_run("echo 'int mine;' >>%s/06_cp_async/attention.cu && "
                   "scripts/workshop/source.sh 06_cp_async",
                   lab_work);
  EXPECT(result, "your own (LAB=1 takes the lab's)");
}

// One part stands between the lab's others, and the compiler knows each line by its number in the reader's file.
Test(workshop, one_part_between_the_others) {
  EXPECT_STATUS(
      lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
              "sed -i -e 's|^  const float correction = 1.0f; // until then|  HERE __LINE__|' "
              "-e 's|^  // TODO 3 of 3.*|&\\n  third();|' "
              "-e 's|^  return correction|  HERE __LINE__\\n&|' %s",
              file04()),
      0);
  const script_result folder = lab_run("scripts/workshop/part.sh 04_online_softmax 2");
  EXPECT_STATUS(folder, 0);
#define PARTED "%s/.parts/2/04_online_softmax/attention.cu", lab_work
  EXPECT_STATUS(lab_run("grep -q third " PARTED), 1);
  EXPECT_STATUS(lab_run("grep -qF 'new_max = max_over_lanes<1, COLUMN_THREADS>' " PARTED), 0);
  EXPECT_STATUS(lab_run("grep -qF 'row_sum += S_row[n];' " PARTED), 0);
  const script_result lines = lab_run("grep -n HERE %s | sed 's/:.*//'", file04());
  script_result seen = lab_run("grep -v '^#include' %s/.parts/2/04_online_softmax/attention.cu | "
                               "cpp -P 2>/dev/null | sed -n 's/.*HERE //p'",
                               lab_work);
  cr_expect_str_eq(seen.out, lines.out, "%s and not %s", seen.out, lines.out);
  seen = lab_run("scripts/workshop/part.sh 04_online_softmax 4");
  EXPECT_STATUS(seen, 2);
  EXPECT(seen, "error: PART is \"4\": the exercise of step 04 has parts 1 to 3\n");
}

// check, and not only check WORK=1, tests the reader's file, and says first whose file it is.
Test(workshop, the_readers_own_file_is_found) {
#define WHOSE(more)                                                                                \
  lab_run(MAKE "-n step04 check " more " | grep -e '[s]cripts/workshop/source.sh' "                \
               "-e '^echo .source' -e '/check.sh'")
  script_result result = WHOSE();
  EXPECT(result, "the lab's own", "scripts/check.sh build/cpu/step04-check\n");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  result = WHOSE();
  EXPECT(result, "scripts/workshop/source.sh 04_online_softmax\n",
         "scripts/workshop/check.sh cpu ");
  cr_expect_null(strstr(result.out, " scripts/check.sh"), "%s", result.out);
  result = WHOSE("LAB=1");
  EXPECT(result, "the lab's own", "scripts/check.sh build/cpu/step04-check\n");
  result = lab_run(MAKE "-n step03 check | grep /check.sh");
  EXPECT(result, "scripts/check.sh build/cpu/step03-check\n");
  result = lab_run(MAKE "-n step04 run");
  EXPECT(result, "scripts/workshop/source.sh 04_online_softmax\n", "build/cpu/elsewhere/");
}

// A kernel that reaches its limit would do so in each test that is left.
Test(workshop, a_loop_without_end, .timeout = 60) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  char path[128];
  snprintf(path, sizeof path, "%s/step04-check", lab_work);
  toolkit_write(path, "#!/bin/bash\n[ $1 != --list ] || exit\necho \"========= Launch timed out: "
                      "block ($LAB_LIMIT)\"\n"
                      "echo '=========     at softmax_row in attention.cu:148'\n"
                      "sleep 300 & echo $! >${0%/*}/pid; wait\n");
  cr_assert(chmod(path, 0700) == 0);
  const script_result result = lab_run("timeout 30 " CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "Launch timed out: block (5)\n", "at softmax_row in attention.cu:148\n",
         "the tests were stopped there", "attention.cu fails\n");
  const script_result left = lab_run("grep -s '^State:.[^Z]' /proc/$(cat %s/pid)/status", lab_work);
  cr_expect_str_empty(left.out, "it still runs: %s", left.out);
}

// What g++ said of one file, shortened: the same warning in two instances of a template, and an error in a header.
#define COMPILER                                                                                   \
  "work/a.cu: In instantiation of 'void tile(T) [with T = configuration<64>]':\n"                  \
  "work/a.cu:9:1:   required from 'void k() [with E = "                                            \
  "emulator::number16<emulator::fp16_format>]'\n"                                                  \
  "work/a.cu:7:5: warning: no emulator::number16<emulator::fp16_format> here [-Wx]\n"              \
  "    7 |   x = y;\n      |   ^\n"                                                                \
  "common/emulator/include/detail/number16.h:127:19: note: candidate: 'friend'\n"                  \
  "  127 |   friend number16\n"                                                                    \
  "work/a.cu: In instantiation of 'void tile(T) [with T = configuration<32>]':\n"                  \
  "work/a.cu:9:1:   required from 'void k() [with E = "                                            \
  "emulator::number16<emulator::bf16_format>]'\n"                                                  \
  "work/a.cu:7:5: warning: no emulator::number16<emulator::bf16_format> here [-Wx]\n"              \
  "    7 |   x = y;\n      |   ^\n"                                                                \
  "common/kernel/kernel.cuh: In instantiation of 'float max_over_lanes(float)':\n"                 \
  "work/a.cu:8:3:   required from 'void tile(T) [with T = configuration<64>]'\n"                   \
  "work/a.cu:9:1:   required from here\n"                                                          \
  "common/kernel/kernel.cuh:88:5: error: cannot convert\n   88 |   secret\n"

Test(workshop, each_diagnostic_once_at_the_readers_line) {
  char path[128];
  snprintf(path, sizeof path, "%s/log", lab_work);
  toolkit_write(path, COMPILER);
  const script_result result =
      lab_run("awk -v file=work/a.cu -f scripts/workshop/diagnostics.awk %s", path);
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(result.out,
                   "  work/a.cu:8: error: cannot convert\n"
                   "    inside of common/kernel/kernel.cuh:88, which this line calls\n"
                   "  work/a.cu:7: warning: no __half here [-Wx]\n"
                   "      7 |   x = y;\n        |   ^\n",
                   "%s", result.out);
}

// GUIDE.md's first route hunts a bug with a tool, which must see it; a bug is fixed when no tool sees it any more.
Test(workshop, a_hunt_ends_with_a_fix) {
  const script_result tool =
      lab_run("sed -n 's/.*`make hunt BUG=1`, with `\\([a-z]*\\)`.*/\\1/p' GUIDE.md | tr -d '\\n'");
  cr_assert(*tool.out, "GUIDE.md names no tool for the first bug");
  EXPECT_STATUS(lab_run("scripts/workshop/hunt.sh hand-out 1"), 0);
  script_result result =
      lab_run("grep -E '^Caught-by: (.*, )?%s(,|$)' %s/hunt/1/.planted", tool.out, lab_work);
  EXPECT_STATUS(result, 0);
  result = lab_run("scripts/workshop/hunt.sh note 1 check");
  EXPECT(result, "Bug 1 is still there: check does not see it.");
  result = lab_run("scripts/workshop/hunt.sh reveal 1");
  EXPECT(result, "Caught by ", "\nNow mend it in ", "and run make hunt BUG=1 ");
  result = lab_run("echo >>$(echo %s/hunt/1/*/attention.cu) && scripts/workshop/hunt.sh note 1 %s",
                   lab_work, tool.out);
  EXPECT(result, "Is bug 1 fixed? make hunt BUG=1 ");
  result =
      lab_run("scripts/workshop/hunt.sh note 1 check; scripts/workshop/hunt.sh note 1 sanitize; "
              "scripts/workshop/hunt.sh progress");
  EXPECT(result, "Bug 1 is fixed: ", "hunt: 1 bug handed out, 1 fixed, 1 revealed\n");
}

// The output on 80 columns is no wider than these, and nothing is left out.
Test(workshop, tables_and_solutions_fit_the_width) {
#define TABLE                                                                                      \
  "printf 'step  adds          check  error\\n04    one kernel    ok       0.2\\n05    tensor "    \
  "cores"                                                                                          \
  "  FAIL    10.1\\n\\nA sentence that is longer than forty letters, of two lines\\nof text.\\n'"
  script_result result = lab_run(TABLE " | COLUMNS=30 scripts/fit.sh");
  cr_expect_str_eq(result.out,
                   "step  adds          check\n04    one kernel    ok\n05    tensor cores  FAIL\n\n"
                   "step  error\n04      0.2\n05     10.1\n\n"
                   "A sentence that is longer than\nforty letters, of two lines\nof text.\n",
                   "%s", result.out);
  result = lab_run("unset COLUMNS; " TABLE " | scripts/fit.sh | head -n 1");
  cr_expect_str_eq(result.out, "step  adds          check  error\n", "%s", result.out);
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  result = lab_run("COLUMNS=80 scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "\n- // TODO 1 of 3", "\n+ row_max = new_max;\n");
  for (char *line = strtok(result.out, "\n"); line; line = strtok(NULL, "\n")) {
    cr_expect_leq(strlen(line), 80, "%s", line);
  }
}

// A quick check compiles the first configuration that takes a head_dim, out of nine.
Test(workshop, a_quick_check_compiles_one_configuration, .timeout = 120) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 06_cp_async"), 0);
  script_result result = lab_run(MAKE UNOPTIMISED "step06 check-work WORK=1 QUICK=1");
  EXPECT(result, "06_cp_async/attention.cu fails\n");
  result = lab_run("nm -C build/cpu/elsewhere/_.tmp_.%s.quick/steps/06_cp_async/attention.cu.o | "
                   "grep -o 'attention_kernel<configuration<[0-9, ]*>' | sort -u | wc -l",
                   lab_work + strlen("/tmp/"));
  cr_expect_str_eq(result.out, "2\n", "%s configurations",
                   result.out); // the second for head_dim 128
}

TestSuite(goals, .init = lab_enter, .fini = lab_leave);

Test(goals, each_exercise_has_some) {
  const script_result result =
      lab_run("for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
              "grep -qE '^(run|count|budget)( --.*)? \\| .* (=|<=|>=) [0-9.]+ \\| .+' "
              "${source%%attention.cu}goals.txt || echo $source; done");
  cr_expect_str_empty(result.out, "no goals: %s", result.out);
}

// Step 03 under the name of step 04 computes the same, and is not step 04.
Test(goals, are_not_met_by_the_step_before, .timeout = 120) {
  EXPECT_STATUS(lab_run("FROM=03 scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  script_result result =
      lab_run("STEP_FLAGS=-O0 scripts/workshop/goals.sh 04_online_softmax %s", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, " not met there is no matrix of scores in global memory: workspace is 524288, ",
         "and should be 0\n",
         " not met the three kernels are one: launches is 3, and should be 1\n");
  result = lab_run("scripts/workshop/goals.sh 06_cp_async steps && "
                   "scripts/workshop/goals.sh 14_pingpong steps");
  EXPECT_STATUS(result, 0);
  EXPECT(result, " met all tiles are copied", " met the next tiles are under way", " met ");
}

// Participants' files of progress, and the leader's view of them.
Test(workshop, a_room_at_one_glance) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "PART=1 scripts/workshop/exercise.sh fill 04_online_softmax && "
                        "PART=2 scripts/workshop/hint.sh 04_online_softmax && "
                        "scripts/workshop/hunt.sh hand-out 2 && mkdir %s/room",
                        lab_work),
                0);
  EXPECT_STATUS(lab_run("NAME=anna scripts/workshop/progress.sh 03_3dgrid 04_online_softmax && "
                        "mv %s/progress-anna.csv %s/room",
                        lab_work, lab_work),
                0);
  EXPECT_STATUS(
      lab_run("cat >%s/room/ben.csv <<'END'\n"
              "name,step,parts,left,hints,verdict,date\n"
              "ben,03_3dgrid,4,0,0,passed,2026-11-22\nben,05_wmma,3,3,6,failed,2026-11-22\n"
              "ben,hunt,2,1,,,\nEND\n",
              lab_work),
      0);
  script_result result = lab_run("WITH=%s/room scripts/workshop/room.sh", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "\nben 1 05_wmma 3 of 3 6 failed 1 of 2\n",
         "anna 0 04_online_softmax 2 of 3 1 begun 0 of 1\n");
  result = lab_run("WITH=/none scripts/workshop/room.sh");
  EXPECT_STATUS(result, 2);
  result =
      lab_run("echo >%s/room/other.csv; WITH=%s/room scripts/workshop/room.sh", lab_work, lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "other.csv is not a file that make progress NAME=... writes");
}

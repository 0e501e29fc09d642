// The verdict on a participant's file, as check, progress, next and hunt tell it. A script stands in for the program of
// the tests.
#define _GNU_SOURCE
#include "exercise.h"

TestSuite(verdicts, .init = lab_enter, .fini = lab_leave);

// A program of tests that prints the same lines as Criterion.
static void suite_says(const char *lines, int status) {
  char path[128], text[512];
  snprintf(path, sizeof path, "%s/step04-check", lab_work);
  snprintf(text, sizeof text, "#!/bin/bash\ncat <<'END'\n%s\nEND\nexit %d\n", lines, status);
  toolkit_write(path, text);
  cr_assert(chmod(path, 0700) == 0);
}

Test(verdicts, progress_follows_the_file) {
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
         "make step04 sanitize looks for a race, ", " fails\n");
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
         "next: make step04 check, without QUICK, runs all tests and measures the goals\n");
  result = lab_run(CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "attention.cu passes, and meets the goals of the step:\n met ",
         "\nthen: make step04 sanitize looks for a race, a stray access or a missing wait\n",
         "next: read steps/05_wmma/README.md, then make step05 exercise\n");
  EXPECT_STATUS(lab_run("QUICK=1 " CHECK), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, " 0 - passed on the cpu, ", ", not sanitized\n", "progress: 1 of 1 steps pass",
         "next: make step04 sanitize, which finds faults that change no result\n");
#define SANITIZED "%s scripts/workshop/sanitized.sh 04_online_softmax %s"
  EXPECT_STATUS(lab_run(SANITIZED, "WORK=1", "false"), 1);
  result = lab_run(PROGRESS);
  EXPECT(result, ", but sanitize finds faults\n", "next: make step04 sanitize");
  EXPECT_STATUS(lab_run(SANITIZED, "WORK=1 PART=1", "true"), 0); // which is not all of the file
  EXPECT_STATUS(lab_run(SANITIZED, "WORK=", "true"), 0);         // the lab's file
  result = lab_run(PROGRESS);
  EXPECT(result, ", but sanitize finds faults\n");
  EXPECT_STATUS(lab_run(SANITIZED, "WORK=1", "true"), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, ", sanitized\n",
         "next: read steps/05_wmma/README.md"); // and not what comes before the step that passes
  result =
      lab_run("scripts/workshop/next.sh 17_lazy_max"); // whose successor belongs to another branch
  EXPECT(result, "next: read steps/18_split_kv/README.md, which goes on from step 09, then make ");
  EXPECT_STATUS(lab_run("echo // >>%s", file04()), 0);
  result = lab_run(PROGRESS);
  EXPECT(result, "changed since it passed", "progress: 0 of 1 steps pass");
  suite_says(
      "finished: 0 tests\n[====] Synthesis: Tested: 0 | Passing: 0 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run(CHECK), 1);
}

// The verdict is on the file that was built.
Test(verdicts, on_a_file_that_changes_meanwhile) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax"),
                0);
  suite_says(
      "finished: 9 tests\n[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  script_result result =
      lab_run("env QUICK=1 STEP_FLAGS=-O0 scripts/workshop/check.sh cpu %s 04_online_softmax -- "
              "sh -c 'echo // later >>%s'",
              lab_work, file04());
  EXPECT_STATUS(result, 0);
  EXPECT(result, "attention.cu has been changed since it was built: ");
  result = lab_run(PROGRESS);
  EXPECT(result, "changed since it passed");
  EXPECT_STATUS(lab_run("WORK=1 scripts/workshop/sanitized.sh 04_online_softmax "
                        "sh -c 'echo // later still >>%s'",
                        file04()),
                0);
  result = lab_run(PROGRESS);
  cr_expect_null(strstr(result.out, ", sanitized"), "%s", result.out);
}

// The goals are measured in another order of threads, in which a result may be wrong for the first time.
Test(verdicts, a_wrong_result_where_the_goals_are_measured, .timeout = 60) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 02_tiled && "
                        "scripts/workshop/exercise.sh fill 02_tiled && "
                        "sed -i 's/shape[.]scale/(2 * &)/' %s/02_tiled/attention.cu",
                        lab_work),
                0);
  suite_says(
      "finished: 9 tests\n[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  EXPECT_STATUS(lab_run("mv %s/step04-check %s/step02-check", lab_work, lab_work), 0);
  script_result result =
      lab_run("env STEP_FLAGS=-O0 scripts/workshop/check.sh cpu %s 02_tiled", lab_work);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "all tests pass, and the result is wrong where ", " O is wrong at ",
         "make step02 sanitize looks for ", "02_tiled/attention.cu fails\n");
  cr_expect_null(strstr(result.out, " passes"), "%s", result.out);
  result = lab_run("scripts/workshop/progress.sh 02_tiled");
  EXPECT(result, " failed on the cpu, ");
}

// A bug to hunt is checked as a participant's file is, and has neither goals nor a next exercise.
Test(verdicts, of_a_bug_to_hunt) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                        "scripts/workshop/exercise.sh fill 04_online_softmax"),
                0);
  suite_says("[----]   a sentence\n[FAIL] shapes::a: (1s)\n[FAIL] shapes::b: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 7",
             1);
  script_result result = lab_run("HUNT=2 " CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "7 of 9 tests pass; the first that does not is shapes::a:\n a sentence\n",
         "make hunt BUG=2 sanitize looks for a race, ", " fails\n");
  suite_says(
      "finished: 9 tests\n[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0", 0);
  result = lab_run("HUNT=2 " CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "attention.cu passes\n");
  cr_expect_null(strstr(result.out, "goals"), "%s", result.out);
  cr_expect_null(strstr(result.out, "next:"), "%s", result.out);
  cr_expect_null(strstr(result.out, "then:"), "%s", result.out); // make hunt itself says it
}

// The tests run whatever the comments say, and a part counts as written when something stands below its TODO.
Test(verdicts, a_part_below_its_todo) {
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
  suite_says("[----]   a sentence\n[FAIL] shapes::a: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 8",
             1);
  result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "the first that does not is shapes::a:\n a sentence\n2 of 3 parts of ",
         "attention.cu are still to be written:\n line ", ": compute new_max", " line ",
         ": replace each score", "attention.cu fails\n");
}

// A line that an exercise has for the compiler stands before the participant's own.
Test(verdicts, a_line_that_should_be_deleted) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax && sed -i "
                        "'/float correction = 1.0f; .. until then/a const float own = 2.0f;' %s",
                        file04()),
                0);
  suite_says("[----]   a sentence\n[FAIL] shapes::a: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 8",
             1);
  const script_result result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "2 of 3 parts of ", "attention.cu are still to be written:\n", "\nline ",
         "attention.cu still ends in \"// until then\": delete it", "attention.cu fails\n");
  cr_expect_null(strstr(strstr(result.out, "until then") + 1, "until then"), "%s", result.out);
}

// A part may pass before it is written, which is then said. Of the others, which are the lab's meanwhile, nothing is.
Test(verdicts, a_part_takes_the_tests_that_are_asked_for) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  suite_says("$*\nfinished: 9 tests\n"
             "[====] Synthesis: Tested: 9 | Passing: 9 | Failing: 0 | Crashing: 0",
             0);
  EXPECT_STATUS(lab_run("sed -i \"s/<<'END'/<<END/; s|^cat|tee %s/said|\" %s/step04-check",
                        lab_work, lab_work),
                0);
  script_result result = lab_run("PART=1 QUICK=1 " CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "check: part 1 of ",
         "passes the quick tests, with the lab's other parts: make step04 check PART=1 ",
         "measures the goals\n");
  result = lab_run("cat %s/said", lab_work);
  EXPECT(result, "--fail-fast --filter !(other_gpus)/!(more_*|each_is_sanitized) ");
  result = lab_run("PART=1 " CHECK);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "check: part 1 of ", "part 1 is still to be written, at line ",
         "then: make step04 sanitize PART=1 looks for ");
  cr_expect_null(strstr(result.out, "parts of"), "%s", result.out);
  result = lab_run("cat %s/said", lab_work);
  cr_expect_null(strstr(result.out, "--fail-fast"), "%s", result.out);
  suite_says("[----]   a sentence\n[FAIL] shapes::a: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 8",
             1);
  result = lab_run("PART=2 " CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "shapes::a:\n a sentence\npart 2 is still to be written, at line ",
         ": compute the correction", "check: part 2 of ");
  cr_expect_null(strstr(result.out, "sanitize"), "%s", result.out);
}

// Where all parts are written, and the file is wrong, the parts can be tested one by one.
Test(verdicts, the_way_to_the_part_that_is_wrong) {
  EXPECT_STATUS(
      lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
              "sed -i 's|^ *// end of part|  row_sum += 1;\\n&|' %s/04_online_softmax/attention.cu",
              lab_work),
      0);
  suite_says("[----]   a sentence\n[FAIL] shapes::a: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 8",
             1);
  script_result result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, " a sentence\n",
         "make step04 check PART=1 tests part 1 between the lab's other parts",
         "attention.cu fails\n");
  result = lab_run("PART=1 " CHECK);
  cr_expect_null(strstr(result.out, "check PART=1 tests"), "%s", result.out);
}

// Code of the host that never ends, behind a test that only takes long.
Test(verdicts, a_launcher_without_end) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  suite_says("error: the test has used all its processor time and has not ended: shapes::a\n"
             "[FAIL] shapes::a: (1s)\n[FAIL] shapes::b: (1s)\n"
             "[====] Synthesis: Tested: 9 | Passing: 7",
             1);
  EXPECT_STATUS(lab_run("sed -i '2iulimit -S -t >%s/limit' %s/step04-check", lab_work, lab_work),
                0);
  const script_result result = lab_run(CHECK);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "7 of 9 tests pass; the first that does not is shapes::a:\n it did not end: ");
  EXPECT_STATUS(lab_run("grep -x '[0-9]*' %s/limit", lab_work), 0); // seconds of processor time
}

// A kernel that reaches its limit would do so in each test that is left.
Test(verdicts, a_loop_without_end, .timeout = 60) {
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

// GUIDE.md's first route hunts a bug with a tool, which must see it; a bug is fixed when no tool sees it any more.
#define NOTE                                                                                       \
  "note() { scripts/workshop/hunt.sh note 1 $1 $(sha256sum $LAB_WORK/hunt/1/*/attention.cu | "     \
  "cut -c 1-16); }; "
Test(verdicts, a_hunt_ends_with_a_fix) {
  const script_result tool =
      lab_run("sed -n 's/.*`make hunt BUG=1`, with `\\([a-z]*\\)`.*/\\1/p' GUIDE.md | tr -d '\\n'");
  cr_assert(*tool.out, "GUIDE.md names no tool for the first bug");
  EXPECT_STATUS(lab_run("scripts/workshop/hunt.sh hand-out 1"), 0);
  script_result result =
      lab_run("grep -E '^Caught-by: (.*, )?%s(,|$)' %s/hunt/1/.planted", tool.out, lab_work);
  EXPECT_STATUS(result, 0);
  result = lab_run(NOTE "note check");
  EXPECT(result, "Bug 1 is still there: check does not see it.");
  result = lab_run("scripts/workshop/hunt.sh reveal 1");
  EXPECT(result, "Seen by ", "\nNow mend it in ", "and run make hunt BUG=1 ");
  result = lab_run(NOTE "echo >>$(echo %s/hunt/1/*/attention.cu) && note %s", lab_work, tool.out);
  EXPECT(result, "Is bug 1 fixed? make hunt BUG=1 ");
  result = lab_run(NOTE "note check; note sanitize; scripts/workshop/hunt.sh progress");
  EXPECT(result, "Bug 1 is fixed: ", "hunt: 1 bug handed out, 1 fixed, 1 revealed\n");
}

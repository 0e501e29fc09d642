// What `make check` and other verbs run, and that a verb fails when the script behind it fails.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(checked, .init = lab_enter, .fini = lab_leave, .timeout = 60);

// A test program that is left out fails nowhere. Those of steps/ and group/ are the suites of the steps, and
// the two others measure a GPU's times.
Test(checked, every_test_program) {
  EXPECT_STATUS(lab_run(MAKE "-n check-now >%s/said", lab_work), 0);
  const script_result left_out =
      lab_run("sed -n 's/.*scripts.check\\.sh //p' %s/said | tr ' ' '\\n' >%s/programs; "
              "for file in common/tests/*/test_*.c; do name=${file#common/}; name=${name%%.c}; "
              "case $name in tests/steps/* | tests/group/*) continue ;; "
              "tests/timing/test_cold_cache | tests/timing/test_known_duration) continue ;; esac; "
              "case $name in tests/sanitize/* | tests/count/*) build=build/cpu-${name#tests/}; "
              "build=${build%%/*} ;; *) build=build/cpu ;; esac; "
              "grep -qx \"$build/$name\" %s/programs || echo \"$name\"; done; "
              "for step in steps/*/attention.cu; do step=${step#steps/}; "
              "grep -qx \"build/cpu/step${step%%%%_*}-check\" %s/programs || echo \"$step\"; done",
              lab_work, lab_work, lab_work, lab_work);
  cr_expect_str_empty(left_out.out, "left out: %s", left_out.out);
}

// The same of the suites, into which their files are linked.
Test(checked, every_file_of_the_suites) {
  const script_result left_out =
      lab_run("env -u MAKEFLAGS -u MAKELEVEL make -n -B -f make/build.mk DEVICE=cpu MODE= "
              "build/cpu/step04-check build/cpu/step21-check >%s/said 2>&1; "
              "for file in common/tests/steps/*.c common/tests/group/*.c; do "
              "grep -q \" -c $file \" %s/said && grep -q \" [^ ]*/${file%%.c}\\.o \" %s/said || "
              "echo \"$file\"; done",
              lab_work, lab_work, lab_work);
  cr_expect_str_empty(left_out.out, "left out: %s", left_out.out);
}

// The checks of texts run beside the build, and behind the tests the planted bugs, the variants, the substeps and the
// guide. One that fails in the middle of a line must end it.
Test(checked, what_runs_beside_the_tests) {
  const script_result result = lab_run(MAKE "-n check-now | sed 's/[^ ]*-check //g'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "scripts/side_by_side.sh \"", " format-check\"", " tables-check\"",
         " claims-check\"", " pages-check\"", "scripts/check.sh ", "scripts/side_by_side.sh \"",
         " scripts/bugs.sh 01_naive ", " && scripts/slow.sh 01_naive ",
         "; else echo 'bugs: skipped", " scripts/variants.sh 01_naive ",
         " && TENTH= DEVICE=cpu SHORT=1 ", " scripts/substeps.sh 01_naive ",
         "; else echo 'variants: skipped", " \"scripts/guide.sh\"");
}

// Puts a script in the place of another one.
static void put(const char *script, const char *text) {
  char path[64], whole[128];
  snprintf(path, sizeof path, "scripts/%s", script);
  snprintf(whole, sizeof whole, "#!/bin/bash\n%s\n", text);
  toolkit_write_program(path, whole);
}

// Enters a lab whose scripts do nothing and end well.
static void enter_idle_lab(void) {
  static const char *const idle[] = {
      "build.sh",    "run.sh",    "check.sh",         "side_by_side.sh",
      "sanitize.sh", "bugs.sh",   "record_counts.sh", "record_count_lines.sh",
      "guide.sh",    "claims.sh", "tables.sh",        "pages.sh",
      "format.sh",   "plot.sh"};
  lab_enter();
  EXPECT_STATUS(
      lab_run("mkdir %s/lab && cp -r Makefile make scripts steps %s/lab && mkdir -p "
              "%s/lab/build/count && cd %s/lab/build/count && touch step04.csv step04-lines.csv",
              lab_work, lab_work, lab_work, lab_work),
      0);
  cr_assert(chdir(lab_work) == 0 && chdir("lab") == 0);
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) put(idle[i], "exit 0");
}

static void leave_idle_lab(void) {
  cr_assert(chdir("/") == 0);
  lab_run("rm -rf %s", lab_work);
}

TestSuite(verbs_that_fail, .init = enter_idle_lab, .fini = leave_idle_lab, .timeout = 60);

static void expect_failure(const char *goals, const char *script, const char *text) {
  put(script, text);
  const script_result result = lab_run(MAKE "%s", goals);
  cr_expect_eq(result.status, 2, "%s: it ended with %d: %s", goals, result.status, result.out);
  put(script, "exit 0");
}

// The tests, and what runs before and behind them.
Test(verbs_that_fail, check) {
  EXPECT_STATUS(lab_run(MAKE "check-now"), 0);
  expect_failure("check-now", "check.sh", "exit 1");
  expect_failure("check-now", "side_by_side.sh", "[[ $* != *claims-check* ]]");
  expect_failure("check-now", "side_by_side.sh", "[[ $* != *guide.sh* ]]");
}

Test(verbs_that_fail, checks_of_texts) {
  EXPECT_STATUS(lab_run(MAKE "tables-check claims-check pages-check format-check guide bugs"), 0);
  expect_failure("tables-check", "tables.sh", "[ \"$1\" != --check ]");
  expect_failure("claims-check", "claims.sh", "exit 1");
  expect_failure("pages-check", "pages.sh", "exit 1");
  expect_failure("format-check", "format.sh", "[ \"$1\" != --dry-run ]");
  expect_failure("bugs guide", "bugs.sh", "exit 1");
}

// Of several steps the first one that fails ends the verb, although the last one passes.
Test(verbs_that_fail, with_one_step_of_several) {
  static const char *const goals[] = {"step04 step05 run", "step04 step05 fuzz"};
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    EXPECT_STATUS(lab_run(MAKE "%s", goals[i]), 0);
    expect_failure(goals[i], "run.sh", "[[ $* != *step04* ]]");
  }
}

// A count that is not recorded is no count.
Test(verbs_that_fail, sanitize_and_count) {
  EXPECT_STATUS(lab_run(MAKE "step04 sanitize-now MODE=sanitize"), 0);
  expect_failure("step04 sanitize-now MODE=sanitize", "sanitize.sh", "exit 1");
  EXPECT_STATUS(lab_run(MAKE "step04 count-now MODE=count"), 0);
  expect_failure("step04 count-now MODE=count", "record_counts.sh", "exit 1");
}

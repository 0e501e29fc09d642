// Runs the program of `make ladder` on the step of ../driver/sabotaged_step.c, and looks at how it ends. LAB_BUILD is the
// folder of the build, where both lie.
#define _GNU_SOURCE
#include "tests/driver/program.h"

static char build[PATH_MAX];

static void find_ladder(void) {
  const char *named = getenv("LAB_BUILD");
  if (!named) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  cr_assert(realpath(named, build), "LAB_BUILD is %s, and there is no such folder", named);
  snprintf(program_path, sizeof program_path, "%.4000s/ladder", build);
  temporary_folder_enter();
}

TestSuite(ladder_program, .init = find_ladder, .fini = temporary_folder_leave, .timeout = 120);

static program_result run(const char *sabotage) {
  char arguments[PATH_MAX + 100];
  setenv("SABOTAGE", sabotage, 1);
  snprintf(arguments, sizeof arguments, "data few %s/sabotaged.so -- --seq 20 --dim 8 --no-time",
           build);
  const program_result result = program_run(arguments);
  cr_assert_eq(system("rm -r data"), 0, "it has left no record");
  return result;
}

Test(ladder_program, tells_a_wrong_step) {
  cr_expect_eq(run("nothing").status, 0);
  const program_result result = run("zeros");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.err, "O is wrong at batch 0, head 0, row 0"), "%s", result.err);
}

// O alone is checked also where nothing is timed.
Test(ladder_program, tells_a_step_that_is_wrong_without_lse) {
  const program_result result = run("o_alone");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.err, "where lse is not asked for: O is wrong at batch 0"), "%s",
            result.err);
}

// Runs the program of `make step04 fuzz` on the step of ../driver/sabotaged_step.c, and looks at how it ends. LAB_BUILD is
// the folder of the build, where it lies.
#define _GNU_SOURCE
#include "tests/driver/program.h"

static void find_fuzz(void) {
  const char *build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  char named[PATH_MAX];
  snprintf(named, sizeof named, "%.4000s/sabotaged-fuzz", build);
  cr_assert(realpath(named, program_path), "there is no %s", named);
  temporary_folder_enter();
}

TestSuite(fuzz_program, .init = find_fuzz, .fini = temporary_folder_leave, .timeout = 120);

Test(fuzz_program, counts_what_was_run) {
  setenv("SABOTAGE", "nothing", 1);
  const program_result result = program_run("--count 5 --seconds 1000");
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(strstr(result.out, "is right on 5 problems of seed 1 ("), "%s", result.out);
}

// A step that refuses everything is not right.
Test(fuzz_program, fails_where_nothing_was_run) {
  setenv("SABOTAGE", "unsupported", 1);
  const program_result result = program_run("--count 5 --seconds 1000");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.err, "error: step 00_sabotaged was tested on no problem of seed 1: it "
                               "cannot take any of the first 5, the last one because it takes "
                               "nothing\n"),
            "%s", result.err);
  cr_expect_str_empty(result.out);
}

// `make fuzz ARGS=--help` gives the options of make first.
Test(fuzz_program, helps_behind_other_options) {
  const program_result result = program_run("--count 5 --help");
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect_eq(strncmp(result.out, "usage: ", 7), 0, "%s", result.out);
}

// Runs the ladder's program on step 04 and the spoiled step of ../driver/sabotaged_step.c, which lie in the folder of the
// build, LAB_BUILD.
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

static void leave(void) {
  cr_expect_eq(system("rm -rf data"), 0);
  temporary_folder_leave();
}

TestSuite(ladder, .init = find_ladder, .fini = leave, .timeout = 120);

// Runs the spoiled step, and step 04 behind it.
static program_result run(const char *kind) {
  char arguments[4096];
  setenv("SABOTAGE", kind, 1);
  snprintf(arguments, sizeof arguments,
           "data it %.1500s/sabotaged.so %.1500s/step04.so -- --batch 1 --heads 2 --seq 40 "
           "--no-time",
           build, build);
  return program_run(arguments);
}

// Tells whether so many lines of the record match the pattern of grep.
static bool holds(int lines, const char *pattern) {
  char command[512];
  snprintf(command, sizeof command, "test $(cat data/*/it.csv | grep -c '%s') = %d", pattern,
           lines);
  return system(command) == 0;
}

Test(ladder, records_the_commit_of_the_start) {
  setenv("LAB_COMMIT", "before1", 1);
  const program_result result = run("commit");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect(holds(2, "^0.*,before1,20"), "the rows have another commit");
  cr_expect(holds(2, "commit = before1,"), "the comments have another commit");
}

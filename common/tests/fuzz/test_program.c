// Runs the program of `make step04 fuzz` on the step of ../driver/sabotaged_step.c, and looks at how it ends. LAB_BUILD is
// the folder of the build, where it lies.
#define _GNU_SOURCE
#include "device/device.h"
#include "fuzz/problem.h"
#include "shape/shape.h"
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

static const char *takes_all(const attention_shape *shape) { return shape ? NULL : "no shape"; }
static const attention_step any = {.name = "00_sabotaged", .unsupported = takes_all};

// The problems come in batches of 100, each in a process of its own. One of the second batch fails, and is named with its
// number and the command that repeats it.
Test(fuzz_program, names_the_problem_that_fails) {
  enum { FIRST = 100, COUNT = 200 };
  char texts[COUNT][160], repeat[512], named[64];
  int number = 0;
  for (int i = 0; i < COUNT && number == 0; i++) {
    const fuzz_problem problem = problem_random(&any, 7, (uint64_t)i);
    snprintf(texts[i], sizeof texts[i], "%s", shape_describe(&problem.shape).text);
    bool again = false;
    for (int j = 0; j < i && !again; j++) again = strcmp(texts[i], texts[j]) == 0;
    if (i >= FIRST + 3 && !again) number = i;
  }
  cr_assert_gt(number, 0);
  setenv("SABOTAGE", "one_shape", 1);
  setenv("SABOTAGE_SHAPE", texts[number], 1);
  const program_result result = program_run("--count 200 --seconds 1000 --seed 7");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.err);
  const fuzz_problem problem = problem_random(&any, 7, (uint64_t)number);
  snprintf(named, sizeof named, "fails on problem %d of seed 7\n", number);
  cr_expect(strstr(result.out, named), "it is problem %d: %s", number, result.out);
  const char *options =
      strstr(problem_command(&problem, "x", device_set_schedule(0)).text, " --dtype");
  snprintf(repeat, sizeof repeat, "%.300s\n", options);
  const char *command = strstr(result.out, "  repeat: ");
  cr_expect(command && strstr(command, repeat), "%s is not the command of %s", result.out, repeat);
}

// Those that were refused have tested nothing.
Test(fuzz_program, counts_what_was_refused_apart) {
  enum { COUNT = 20 };
  char sentence[128];
  int odd = 0;
  for (uint64_t i = 0; i < COUNT; i++) odd += problem_random(&any, 1, i).shape.seq_q % 2;
  cr_assert(odd > 0 && odd < COUNT);
  setenv("SABOTAGE", "odd", 1);
  const program_result result = program_run("--count 20 --seconds 1000");
  cr_expect_eq(result.status, 0, "%s", result.err);
  snprintf(sentence, sizeof sentence,
           "is right on %d problems of seed 1, and cannot take %d others (", COUNT - odd, odd);
  cr_expect(strstr(result.out, sentence), "%s", result.out);
}

Test(fuzz_program, refuses) {
  setenv("SABOTAGE", "zeros", 1); // which is not even run
  program_expect_refused("--seconds 0", "error: --seconds is 0: the smallest it can be is 1\n");
  program_expect_refused("--count", "error: --count needs a value, such as --count 60\n");
  program_expect_refused("--seed x", "error: --seed is \"x\"");
  program_expect_refused("--speed 1", "error: --speed is not an option: there are --seconds, ");
}

// `make fuzz ARGS=--help` gives the options of make first.
Test(fuzz_program, helps_behind_other_options) {
  const program_result result = program_run("--count 5 --help");
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect_eq(strncmp(result.out, "usage: ", 7), 0, "%s", result.out);
}

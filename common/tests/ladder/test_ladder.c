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

Test(ladder, tells_a_wrong_step) {
  cr_expect_eq(run("nothing").status, 0);
  const program_result result = run("zeros");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.err, "O is wrong at batch 0, head 0, row 0"), "%s", result.err);
}

// Else the samples of an earlier run would lie beside the rows, and be published with them.
Test(ladder, leaves_no_samples_of_an_earlier_run) {
  cr_expect_eq(run("nothing").status, 0);
  cr_assert_eq(system("touch \"$(echo data/*)/it-samples.csv\""), 0);
  const program_result result = run("nothing");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect_eq(system("ls data/*/it.csv >/dev/null && ! ls data/*/it-samples.csv 2>/dev/null"), 0);
}

// O alone is checked also where nothing is timed.
Test(ladder, tells_a_step_that_is_wrong_without_lse) {
  const program_result result = run("o_alone");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.err, "where lse is not asked for: O is wrong at batch 0"), "%s",
            result.err);
}

Test(ladder, records_the_commit_of_the_start) {
  setenv("LAB_COMMIT", "before1", 1);
  const program_result result = run("commit");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect(holds(2, "^0.*,before1,20"), "the rows have another commit");
  cr_expect(holds(2, "commit = before1,"), "the comments have another commit");
}

Test(ladder, goes_on_behind_a_launch_that_fails) {
  const program_result result = run("launch");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.err);
  cr_expect(program_begins(result.err, "FAILED: 00_sabotaged: launching the step failed: "), "%s",
            result.err);
  cr_expect(holds(1, "^00_sabotaged,.*,FAILED,") && holds(1, "^04_online_softmax,.*,ok,"),
            "it printed: %s", result.out);
}

// Whatever runs behind a wild write would be called a failure, too.
Test(ladder, shows_what_cannot_be_run_any_more) {
  const program_result result = run("wild");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.err);
  cr_expect(strstr(result.err, "FAILED: 00_sabotaged: ") &&
                strstr(result.err, "\nerror: nothing is recorded, because the launch of a step has "
                                   "left the device unusable"),
            "it said: %s", result.err);
  const char *row = strstr(result.out, "\n04_online_softmax ");
  cr_expect(row && strstr(row, "  skipped: a step above has left the device unusable\n"),
            "it printed: %s", result.out);
  cr_expect(system("! ls data/*/it.csv >ls.out 2>&1 && rm ls.out") == 0, "there is a record");
}

// Runs the ladder on `steps`, in which SO stands for step 04.
static program_result run_steps(const char *steps, const char *options) {
  char arguments[4096];
  size_t length = (size_t)snprintf(arguments, sizeof arguments, "data it");
  for (const char *colon = steps; colon; colon = strchr(colon + 1, ' ')) {
    const char *behind = colon + strspn(colon, " ") + 2;
    length += (size_t)snprintf(arguments + length, sizeof arguments - length,
                               " %.1000s/step04.so%.*s", build, (int)strcspn(behind, " "), behind);
  }
  snprintf(arguments + length, sizeof arguments - length, " -- --batch 1 --heads 1 --no-time %s",
           options);
  return program_run(arguments);
}

// A sweep has a row for each configuration, under its name, and runs it. Those that the GPU refuses are skipped: of the
// 64 KB of a T4 the larger tile of step 04 would need 75.
Test(ladder, a_sweep_runs_each_configuration) {
  setenv("EMU_GPU", "h200", 1);
  program_result result = run_steps("SO:all", "--seq 40 --dim 128");
  if (!strstr(result.out, " on Emulated ")) cr_skip_test("the GPU is not the emulated one");
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(holds(1, "^04_online_softmax,64x32x4,.*,ok,.*,1,1,128,") &&
                holds(1, "^04_online_softmax,32x32x4,.*,ok,.*,1,2,256,") && holds(2, "^04_"),
            "the record has other rows than it printed: %s", result.out);
  setenv("EMU_GPU", "t4", 1);
  result = run_steps("SO:all", "--seq 40 --dim 128");
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(strstr(result.out, "  64x32x4  skipped: this configuration needs more shared memory") &&
                strstr(result.out, "  32x32x4  ok "),
            "it printed: %s", result.out);
}

// The counts of a row are those of one run of its own step, whatever ran before.
Test(ladder, records_counts_and_workspace_of_each_step) {
  const program_result result = run_steps("SO SO", "--seq 20 --dim 64");
  cr_expect_eq(result.status, 0, "%s", result.err);
  if (strstr(result.out, " on Emulated "))
    cr_expect(holds(2, ",1,1,128,2,100,0,0$"), "it printed: %s", result.out);
  run("nothing");
  cr_expect(holds(1, "^00_sabotaged,.*,ok,[^,]*,[^,]*,[^,]*,12,") &&
                holds(1, "^04_online_softmax,.*,ok,[^,]*,[^,]*,[^,]*,0,"),
            "a workspace has other bytes");
}

// The ladder refuses what it cannot do, and does not leave it out in silence.
Test(ladder, refuses_what_is_for_one_step) {
  static const char *const options[] = {"--config 32x32x4", "--no-check", "--o-alone", "--csv",
                                        "--out O.npy",      "--lse L.npy"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char sentence[128];
    snprintf(sentence, sizeof sentence,
             "error: the ladder takes no %.*s: give it to one step's program, such as step04\n",
             (int)strcspn(options[i], " "), options[i]);
    const program_result result = run_steps("SO", options[i]);
    cr_expect_eq(result.status, 2, "%s: it ended with %d", options[i], result.status);
    cr_expect_str_eq(result.err, sentence);
  }
  const program_result result = run_steps("SO", "--splits 2");
  cr_expect(strstr(result.err, "such as step18\n"), "%s", result.err);
  cr_expect_eq(system("! ls data >ls.out 2>&1 && rm ls.out"), 0, "there is a record");
}

// Step 04 does not divide the keys, so it has no numbers of splits to try. The spoiled step has no configurations at all.
Test(ladder, refuses_a_sweep_of_what_a_step_lacks) {
  program_result result = run_steps("SO:splits", "--seq 20");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  cr_expect(strstr(result.err, "error: step 04_online_softmax does not split the keys"), "%s",
            result.err);
  char arguments[2048];
  snprintf(arguments, sizeof arguments, "data it %.1500s/sabotaged.so:all -- --seq 20", build);
  result = program_run(arguments);
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  cr_expect_str_eq(result.err, "error: step 00_sabotaged has one configuration only: there is "
                               "nothing to sweep\n");
}

// Other commands take the ladder's problem, and find the folder of its records.
Test(ladder, says_what_it_takes_and_where_it_writes) {
  setenv("EMU_GPU", "t4", 1);
  const program_result slug = program_run("--slug"), options = program_run("--options");
  if (!strstr(slug.out, "emulated-")) cr_skip_test("the GPU is not the emulated one");
  cr_expect(slug.status == 0 && options.status == 0);
  cr_expect_str_eq(slug.out, "emulated-tesla-t4\n");
  cr_expect_str_eq(options.out, "--batch 1 --heads 4 --seq 256 --dim 64\n");
}

// Too little memory is no fault of the step.
Test(ladder, ends_with_2_where_the_machine_fails) {
  const program_result result = run("workspace");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.err);
  cr_expect(strstr(result.err, "error: the workspace would have "), "%s", result.err);
}

// Runs the program of `make groups` on two emulated GPUs, and looks at how it ends. LAB_BUILD is the folder of the build,
// where the program, step 17, step 21 and the spoiled step of ../driver/sabotaged_group.c lie.
#define _GNU_SOURCE
#include "tests/driver/program.h"

static char build[PATH_MAX];

static void find_groups(void) {
  const char *named = getenv("LAB_BUILD");
  if (!named) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  cr_assert(realpath(named, build), "LAB_BUILD is %s, and there is no such folder", named);
  snprintf(program_path, sizeof program_path, "%.4000s/groups", build);
  setenv("EMU_GPUS", "2", 1);
  temporary_folder_enter();
}

TestSuite(groups, .init = find_groups, .fini = temporary_folder_leave, .timeout = 120);

// Runs the program on the two steps of the build, and on one length.
static program_result run(const char *one, const char *several, const char *length) {
  char arguments[4096];
  snprintf(arguments, sizeof arguments, "data times %.1000s/%s %.1000s/%s -- %s", build, one, build,
           several, length);
  return program_run(arguments);
}

// The name of the folder inside `data` is that of the device.
static bool recorded(void) {
  return system("test -s data/emulated-*/times.csv && test -s data/emulated-*/times-samples.csv && "
                "rm -r data") == 0;
}

// Tells whether the program in awk's language ends with 0 for the record, whose columns it finds in `column`.
static bool holds(const char *file, const char *test) {
  char command[1024];
  snprintf(command, sizeof command,
           "awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } %s' "
           "data/emulated-*/%s.csv",
           test, file);
  return system(command) == 0;
}

Test(groups, ends_with_0_where_all_results_are_right) {
  const program_result result = run("step17.so", "step21.so", "256");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect_str_empty(result.err);
  cr_expect(strstr(result.out, "causal  21_gather"), "it printed: %s", result.out);
  // Half of K and of V reaches each rank: 2 tensors * 128 rows * 16 heads * 256 bytes.
  cr_expect(holds("times", "$1 == \"copies_alone\" && $column[\"arriving_bytes\"] == 1048576 && "
                           "$column[\"link_share\"] == 1 { found++ } END { exit found != 2 }"));
  cr_expect(holds("times", "$1 == \"21_gather\" && $column[\"rounds\"] == 1 && "
                           "$column[\"workspace_bytes\"] > 2 * 1048576 && "
                           "$column[\"link_share\"] > 0 { found++ } END { exit found != 2 }"));
  // Each GPU computes half of the heads, and nothing reaches it.
  cr_expect(holds("times", "$1 == \"products_alone\" && $column[\"gpus\"] == 2 && "
                           "$column[\"efficiency\"] > 0 && $column[\"tflops\"] > 0 && "
                           "$column[\"arriving_bytes\"] == 0 && $column[\"link_share\"] == \"\" && "
                           "$column[\"check\"] == \"ok\" { found++ } END { exit found != 2 }"));
  cr_expect(holds("times",
                  "$1 == \"meeting_alone\" && $column[\"median_ms\"] > 0 && "
                  "$column[\"tflops\"] $column[\"efficiency\"] $column[\"gb_per_s\"] == \"\" "
                  "{ found++ } END { exit found != 2 }"));
  // Each mask has six contenders, which have different places in their round.
  cr_expect(holds("times-samples",
                  "{ places[$column[\"causal\"], $column[\"place\"]] } "
                  "END { for (p in places) count++; exit NR != 13 || count != 12 }"));
  cr_expect(recorded(), "there is no record");
}

// The record of variants has one table for each number of GPUs, which is that of the machine.
Test(groups, variants_are_timed_on_all_gpus_alone) {
  setenv("EMU_GPUS", "3", 1);
  const program_result result = run("step17.so", "step21.so:variant=same", "384");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect(holds("times", "{ of[$column[\"variant\"], $column[\"gpus\"]]++ } "
                           "END { exit of[\"\", 1] != 2 || of[\"\", 2] || of[\"same\", 2] || "
                           "of[\"same\", 3] != 2 }"));
  cr_expect(recorded(), "there is no record");
}

// Nothing is copied from GPU to GPU there, and the link has no bandwidth.
Test(groups, without_peer_access_the_link_is_not_measured) {
  setenv("EMU_PEER_ACCESS", "0", 1);
  const program_result result = run("step17.so", "step21.so", "256");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.err);
  cr_expect_null(strstr(result.out, "copies_alone"), "it printed: %s", result.out);
  cr_expect(holds("times", "$column[\"link_share\"] $column[\"link_gb_per_s\"] != \"\" { known++ } "
                           "END { exit known > 0 }"));
  cr_expect(recorded(), "there is no record");
}

// The time of a step that computes something else means nothing, and neither does that of one that was not launched.
Test(groups, ends_with_1_where_a_step_fails) {
  const struct {
    const char *kind, *sentence;
  } cases[] = {
      {"nothing", "error: 00_sabotaged on 2 GPUs: O is "},
      {"launch", "error: 00_sabotaged on 2 GPUs, 256 rows, checked: launching the step failed: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("SABOTAGE", cases[i].kind, 1);
    const program_result result = run("step17.so", "sabotaged_group.so", "256");
    cr_expect_eq(result.status, 1, "%s ended with %d: %s", cases[i].kind, result.status,
                 result.err);
    cr_expect(strstr(result.err, cases[i].sentence), "%s said: %s", cases[i].kind, result.err);
    cr_expect(!recorded(), "there is a record of a step that failed: %s", cases[i].kind);
  }
}

// The launches that are timed ask for O alone, and their buffers hold what earlier launches have left there.
Test(groups, finds_what_only_some_launches_compute_wrong, .timeout = 240) {
  const struct {
    const char *kind, *sentence;
  } cases[] = {
      {"unwritten", "error: 00_spoiled on 2 GPUs: O is wrong at batch 0, head 0, row 63, "},
      {"alone", "error: 00_spoiled on 2 GPUs: where lse is not asked for: O is "},
      {"later",
       "error: 00_spoiled on 2 GPUs: after it was timed, where lse is not asked for: O is "},
  };
  char step[PATH_MAX];
  snprintf(step, sizeof step, "%.4000s/step21.so", build);
  setenv("SPOILED_STEP", step, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("SPOIL", cases[i].kind, 1);
    const program_result result = run("step17.so", "spoiled_group.so", "256");
    cr_expect_eq(result.status, 1, "%s ended with %d: %s", cases[i].kind, result.status,
                 result.err);
    cr_expect(program_begins(result.err, cases[i].sentence), "%s said: %s", cases[i].kind,
              result.err);
    cr_expect(!recorded(), "there is a record of a step that is wrong: %s", cases[i].kind);
  }
}

// GPUs wait for a rank that has left an exchange for ever, and so does the emulator without a limit. The connections are
// ended before memory is freed, which waits for the GPUs.
Test(groups, does_not_wait_for_a_rank_that_failed) {
  setenv("EMU_NCCL_LIMIT", "0", 1);
  setenv("LAB_LIMIT", "1", 1);
  setenv("SABOTAGE", "launch", 1);
  const program_result result = run("step17.so", "sabotaged_group.so", "256");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.err);
  cr_expect(program_begins(result.err, "error: 00_sabotaged on 2 GPUs, 256 rows, checked: "),
            "it said: %s", result.err);
}

Test(groups, ends_with_2_where_the_input_is_bad) {
  setenv("SABOTAGE", "unsupported", 1);
  const struct {
    const char *one, *several, *length, *sentence;
  } cases[] = {
      {"step17.so", "sabotaged_group.so", "256", "error: 00_sabotaged cannot take "},
      {"step17.so", "step17.so", "256", "error: "},
      {"step21.so", "step21.so", "256", "error: "},
      {"step17.so", "step00.so", "256", "error: "},
      {"step17.so", "step21.so", "12x", "error: the length "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const program_result result = run(cases[i].one, cases[i].several, cases[i].length);
    cr_expect_eq(result.status, 2, "%s %s %s ended with %d: %s", cases[i].one, cases[i].several,
                 cases[i].length, result.status, result.err);
    cr_expect(program_begins(result.err, cases[i].sentence), "%s %s %s said: %s", cases[i].one,
              cases[i].several, cases[i].length, result.err);
    cr_expect(!recorded(), "there is a record of no step");
  }
  setenv("EMU_GPUS", "1", 1);
  program_expect_refused("data times one.so several.so", "error: this machine has one GPU, ");
  cr_expect_eq(program_run("data times").status, 2);
}

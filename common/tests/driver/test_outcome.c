// The exit status of a run and the sentences on stderr, for each kind of outcome. This program stands in for the emulator's
// sanitizer.
#define _GNU_SOURCE
#include "driver/outcome.h"
#include "emulator.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static uint64_t findings;
uint64_t emulator_findings(void) { return findings; }

static report told;
static options given;
static error_text launch_error = {"launching the step failed"};

// Returns what is said on stderr, and compares the exit status.
static const char *said(const error_text *error, int status, int expected) {
  static char text[2048];
  FILE *file = tmpfile();
  const int kept = dup(STDERR_FILENO);
  cr_assert(file && kept >= 0 && fflush(stderr) == 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  const int found = outcome_status(&told, &given, error, status);
  fflush(stderr);
  cr_assert(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  cr_expect_eq(found, expected, "the status is %d: %s", found, text);
  return text;
}

Test(outcome, of_a_right_step) {
  told.verdict = CHECK_PASSED;
  cr_expect_str_empty(said(NULL, EXIT_BAD_INPUT, EXIT_OK));
  told.verdict = CHECK_SKIPPED;
  cr_expect_str_empty(said(NULL, EXIT_BAD_INPUT, EXIT_OK));
  told.verdict = CHECK_ILL_CONDITIONED; // no fault of the step
  strcpy(told.check.message.text, "float32 is too imprecise");
  cr_expect_str_eq(said(NULL, EXIT_BAD_INPUT, EXIT_OK), "note: float32 is too imprecise\n");
}

// The sentence names the files that were asked for.
Test(outcome, of_a_wrong_step) {
  told.verdict = CHECK_FAILED;
  strcpy(told.check.message.text, "O is wrong");
  cr_expect_str_eq(said(NULL, EXIT_BAD_INPUT, EXIT_CHECK_FAILED), "error: O is wrong\n");
  given.lse = "L.npy";
  cr_expect_str_eq(said(NULL, EXIT_BAD_INPUT, EXIT_CHECK_FAILED),
                   "error: O is wrong\n"
                   "note: nothing was written to L.npy, because the result is wrong\n");
  given.out = "O.npy";
  cr_expect_str_eq(said(NULL, EXIT_BAD_INPUT, EXIT_CHECK_FAILED),
                   "error: O is wrong\n"
                   "note: nothing was written to O.npy and L.npy, because the result is wrong\n");
}

Test(outcome, of_a_run_that_failed) {
  cr_expect_str_eq(said(&launch_error, EXIT_BAD_INPUT, EXIT_BAD_INPUT),
                   "error: launching the step failed\n");
  said(&launch_error, EXIT_CHECK_FAILED, EXIT_CHECK_FAILED);
}

// One fault is enough, in a step whose numbers are right, and where the run could not be ended.
Test(outcome, of_faults_that_the_sanitizer_has_reported) {
  told.verdict = CHECK_PASSED;
  findings = 1;
  cr_expect_str_eq(said(NULL, EXIT_BAD_INPUT, EXIT_CHECK_FAILED),
                   "error: the sanitizer has reported 1 fault, see above\n");
  findings = 2;
  cr_expect_str_eq(said(&launch_error, EXIT_BAD_INPUT, EXIT_CHECK_FAILED),
                   "error: launching the step failed\n"
                   "error: the sanitizer has reported 2 faults, see above\n");
}

// Linked into each test program: counts how many of its tests came to their end. Criterion
// runs each test in a process of its own, and counts any process that exits with 0 as a
// test that passed, even when the code under test called exit(0) in the middle of it.
//
// At the end the program says in two kinds of lines:
//   finished: 7 tests                  those that ran to their end or to a failed assertion
//   skipped: 2 tests: needs gnuplot    for each reason; "needs" and a tool's name say that this tool is missing
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS = 16 };

static struct {
  size_t finished;
  size_t ended; // before their end, with status 0
  size_t reasons;
  struct {
    char text[128];
    size_t tests;
  } skipped[REASONS];
} seen;

static void note_skipped(const char *reason) {
  size_t i = 0;
  while (i < seen.reasons && strcmp(seen.skipped[i].text, reason) != 0) i++;
  if (i == REASONS) i--; // the last one counts what is beyond
  if (i == seen.reasons) {
    snprintf(seen.skipped[i].text, sizeof seen.skipped[i].text, "%s", reason);
    seen.reasons++;
  }
  seen.skipped[i].tests++;
}

// A test that comes to its end tells this process when Criterion takes the time between its
// begin and its end. For a process that exits instead, Criterion knows no time and gives 0.
ReportHook(POST_TEST)(struct criterion_test_stats *stats) {
  const struct criterion_test_extra_data *wanted = stats->test->data;
  const bool dies = wanted->exit_code != 0 || wanted->signal != 0; // as it should
  if (stats->test_status == CR_STATUS_SKIPPED) {
    note_skipped(stats->message ? stats->message : "no reason given");
  } else if (stats->test_status == CR_STATUS_PASSED && stats->elapsed_time == 0 && !dies) {
    seen.ended++;
    stats->test_status = CR_STATUS_FAILED;
    fprintf(stderr,
            "[----] %s::%s ended its process before the test was at its end: the code under test "
            "called exit\n",
            stats->test->category, stats->test->name);
  } else {
    seen.finished++;
  }
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats) {
  stats->tests_passed -= seen.ended;
  stats->tests_failed += seen.ended;
  fprintf(stderr, "finished: %zu tests\n", seen.finished);
  for (size_t i = 0; i < seen.reasons; i++) {
    fprintf(stderr, "skipped: %zu tests: %s\n", seen.skipped[i].tests, seen.skipped[i].text);
  }
}

// Linked into each test program: limits the time of each test to the value of --timeout, else to the limit
// of the test or its suite, else to ten minutes. The emulator or device_wait (LAB_LIMIT) ends an endless
// kernel much earlier, and names it; this limit is for other code that may hang, on the host or in a driver.
//
// A machine that is busy with other programs makes a test slow, and does not make it use more processor time. So a
// script may allow long for a test and limit its processor time (ulimit -t): a test that reaches that limit says so.
//
// Criterion 2.4.1 applies --timeout only to tests that already have a limit, so each test is given one.
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <signal.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 600 };

// In one piece, with the test's name at its end: tests that run side by side write into the same log.
static void say_endless(int signal) {
  (void)signal;
  const char *const parts[] = {
      "error: the test has used all its processor time and has not ended: ",
      criterion_current_test ? criterion_current_test->category : "",
      "::",
      criterion_current_test ? criterion_current_test->name : "",
      "\n",
  };
  char text[512];
  size_t length = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (const char *c = parts[i]; *c && length < sizeof text; c++) text[length++] = *c;
  const ssize_t written = write(STDERR_FILENO, text, length);
  _exit(written < 0 ? 2 : 1);
}

__attribute__((constructor)) static void watch_processor_time(void) {
  signal(SIGXCPU, say_endless);
}

ReportHook(PRE_ALL)(struct criterion_test_set *all) {
  const double asked = criterion_options.timeout;
  FOREACH_SET(struct criterion_suite_set * suite, all->suites) {
    const struct criterion_test_extra_data *of_suite = suite->suite.data;
    FOREACH_SET(struct criterion_test * test, suite->tests) {
      if (test->data->timeout > 0 || (of_suite && of_suite->timeout > 0)) continue;
      test->data->timeout = asked > 0 ? asked : LONGEST_SECONDS;
    }
  }
}

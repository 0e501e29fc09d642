// Linked into each test program: limits the time of each test to the value of --timeout, else to the limit
// of the test or its suite, else to ten minutes. The emulator or device_wait (LAB_LIMIT) ends an endless
// kernel much earlier, and names it; this limit is for other code that may hang, on the host or in a driver.
//
// Criterion 2.4.1 applies --timeout only to tests that already have a limit, so each test is given one.
#include <criterion/criterion.h>
#include <criterion/hooks.h>

enum { LONGEST_SECONDS = 600 };

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

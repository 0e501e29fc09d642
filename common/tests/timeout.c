// Linked into each test program: no test may take longer than --timeout says, else than the test or its suite says,
// else than ten minutes. An endless kernel is ended much earlier, and named, by the emulator or by
// device_wait (LAB_LIMIT); this is for what else may hang, on the host or in a driver.
//
// Criterion 2.4.1 takes --timeout for tests alone that have a limit already: so each is given one.
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

// common/tests/timeout.c: a test that hangs is ended, whether or not it has a limit of its own.
#define _GNU_SOURCE
#include "toolkit.h"

#define HANGS                                                                                      \
  "#include <criterion/criterion.h>\n"                                                             \
  "#include <unistd.h>\n"                                                                          \
  "TestSuite(patient, .timeout = 60);\n"                                                           \
  "Test(hasty, hangs) { for (;;) pause(); }\n"                                                     \
  "Test(hasty, takes_its_time, .timeout = 60) { sleep(2); }\n"                                     \
  "Test(patient, takes_its_time) { sleep(2); }\n"

// Builds that program with the limit for tests that have none, and runs it.
static script_result run_hanging(const char *seconds, const char *options) {
  char folder[] = "/tmp/lab-test-XXXXXX", command[1024];
  cr_assert(mkdtemp(folder), "no temporary folder");
  snprintf(command, sizeof command, "%s/hangs.c", folder);
  toolkit_write(command, HANGS);
  // Criterion takes a program for one of its workers that finds BXFI_MAP.
  snprintf(command, sizeof command,
           "sed 's/_SECONDS = 600/_SECONDS = %s/' common/tests/timeout.c >%s/timeout.c && cd %s && "
           "cc -o hangs hangs.c timeout.c -lcriterion && "
           "env -u BXFI_MAP timeout 60 ./hangs %s 2>&1; status=$?; rm -rf %s; exit $status",
           seconds, folder, folder, options, folder);
  return toolkit_run(command);
}

Test(timeout, of_tests_without_one, .timeout = 120) {
  const script_result result = run_hanging("1", "");
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "hasty::hangs: Timed out."), "%s", result.out);
  cr_expect(strstr(result.out, "Tested: 3 | Passing: 2 | Failing: 1"), "%s", result.out);
}

Test(timeout, from_the_command_line, .timeout = 120) {
  const script_result result = run_hanging("600", "--timeout 1 --filter 'hasty/hangs'");
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "hasty::hangs: Timed out."), "%s", result.out);
}

// common/tests/timeout.c: a test that hangs is ended, whether or not it has a limit of its own. common/tests/together.c and
// message_socket.c: all processes of a program end together, and it runs whatever a killed program has left.
#define _GNU_SOURCE
#include "toolkit.h"

#define HANGS                                                                                      \
  "#include <criterion/criterion.h>\n"                                                             \
  "#include <unistd.h>\n"                                                                          \
  "TestSuite(patient, .timeout = 60);\n"                                                           \
  "Test(hasty, hangs) { for (;;) pause(); }\n"                                                     \
  "Test(endless, hangs) { for (volatile int i = 0;; i++) {} }\n"                                   \
  "Test(hasty, takes_its_time, .timeout = 60) { sleep(2); }\n"                                     \
  "Test(patient, takes_its_time) { sleep(2); }\n"

// Builds that program with the limit for tests that have none, and runs it behind other commands.
static script_result run_hanging(const char *seconds, const char *before, const char *options) {
  char folder[] = "/tmp/lab-test-XXXXXX", command[1024];
  cr_assert(mkdtemp(folder), "no temporary folder");
  snprintf(command, sizeof command, "%s/hangs.c", folder);
  toolkit_write(command, HANGS);
  // Criterion takes a program for one of its workers that finds BXFI_MAP.
  snprintf(command, sizeof command,
           "sed 's/_SECONDS = 600/_SECONDS = %s/' common/tests/timeout.c >%s/timeout.c && cd %s && "
           "cc -o hangs hangs.c timeout.c -lcriterion && "
           "%senv -u BXFI_MAP timeout 60 ./hangs %s 2>&1; status=$?; rm -rf %s; exit $status",
           seconds, folder, folder, before, options, folder);
  return toolkit_run(command);
}

Test(timeout, of_tests_without_one, .timeout = 120) {
  const script_result result = run_hanging("1", "", "--filter '@(hasty|patient)/*'");
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "hasty::hangs: Timed out."), "%s", result.out);
  cr_expect(strstr(result.out, "Tested: 3 | Passing: 2 | Failing: 1"), "%s", result.out);
}

// A script limits the processor time, of which a test that waits uses none.
Test(timeout, of_processor_time, .timeout = 120) {
  const script_result result =
      run_hanging("600", "ulimit -S -t 1; ", "--filter '@(endless|patient)/*'");
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "error: the test has used all its processor time and has not ended: "
                               "endless::hangs\n"),
            "%s", result.out);
  cr_expect(strstr(result.out, "Tested: 2 | Passing: 1 | Failing: 1"), "%s", result.out);
}

Test(timeout, from_the_command_line, .timeout = 120) {
  const script_result result = run_hanging("600", "", "--timeout 1 --filter 'hasty/hangs'");
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "hasty::hangs: Timed out."), "%s", result.out);
}

// common/tests/together.c: the end of the script that ties a program, or of the terminal, ends the program and each test's process.
Test(timeout, a_program_ends_with_its_script, .timeout = 120) {
  static const char *const endings[] = {"kill -KILL $script", "kill -HUP -$script"};
  char folder[] = "/tmp/lab-test-XXXXXX", command[1024];
  cr_assert(mkdtemp(folder), "no temporary folder");
  snprintf(command, sizeof command, "%s/hangs.c", folder);
  toolkit_write(command, HANGS);
  snprintf(command, sizeof command, "cc -o %s/hangs %s/hangs.c common/tests/together.c -lcriterion",
           folder, folder);
  cr_assert_eq(toolkit_run(command).status, 0);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    snprintf(command, sizeof command,
             "cd %s; running() { ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c $PWD/hangs; }; "
             "%s setsid env --default-signal=HUP -u BXFI_MAP bash -c './hangs -j1 --filter "
             "hasty/hangs; :' >/dev/null 2>&1 & "
             "script=$!; for i in $(seq 100); do [ $(running) -lt 2 ] || break; sleep 0.1; done; "
             "running; %s; for i in $(seq 50); do [ $(running) -gt 0 ] || break; sleep 0.1; done; "
             "running",
             folder, i == 0 ? "LAB_TIED=1" : "", endings[i]);
    const script_result result = toolkit_run(command);
    cr_expect_str_eq(result.out, "2\n0\n", "%s: %s", endings[i], result.out);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  toolkit_run(command);
}

// common/tests/message_socket.c: a program runs its tests although its process has the number of a socket that it cannot
// remove. Here that is a folder. A socket that a killed program has left under this number makes room for it.
Test(message_socket, number_that_is_taken, .timeout = 120) {
  char folder[] = "/tmp/lab-test-XXXXXX", command[1024];
  cr_assert(mkdtemp(folder), "no temporary folder");
  snprintf(command, sizeof command, "%s/two.c", folder);
  toolkit_write(command, "#include <criterion/criterion.h>\n"
                         "Test(two, passes) {}\n"
                         "Test(two, fails) { cr_expect(0); }\n");
  snprintf(command, sizeof command,
           "cc -o %s/two %s/two.c common/tests/message_socket.c -lcriterion && cd %s && "
           "env -u BXFI_MAP bash -c 'echo /tmp/criterion_$$.sock >taken && rm -f $(cat taken) && "
           "mkdir $(cat taken) && exec ./two 2>&1'; status=$?; cd / && rmdir $(cat %s/taken); "
           "rm -r %s; exit $status",
           folder, folder, folder, folder, folder);
  const script_result result = toolkit_run(command);
  cr_expect_eq(result.status, 1, "%d: %s", result.status, result.out);
  cr_expect(strstr(result.out, "Tested: 2 | Passing: 1 | Failing: 1"), "%s", result.out);
}

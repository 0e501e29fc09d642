// Runs the tests of common/tools/peers, which are written in Python (test_*.py beside this file). Tests that
// need PyTorch are skipped if it is missing.
#include "tests/needs.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Test(peers, python_tests_pass) {
  const char *build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
  if (strstr(build, "-sanitized"))
    cr_skip_test("Python cannot load what is built with a sanitizer");
  needs_tool("python3");

  FILE *tests =
      popen("PYTHONPATH=common/tools PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover "
            "-s common/tests/peers 2>&1",
            "r");
  cr_assert_not_null(tests);
  char output[16384];
  output[fread(output, 1, sizeof output - 1, tests)] = '\0';
  const int status = pclose(tests);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", output);
  int count = 0;
  const char *ran = strstr(output, "\nRan ");
  cr_assert(ran && sscanf(ran, "\nRan %d tests", &count) == 1 && count >= 20, "%s", output);
}

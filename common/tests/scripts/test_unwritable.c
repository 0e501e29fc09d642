// Where a record cannot be written, what would take minutes or hours does not begin. Scripts stand in for make, and for
// the programs that it builds.
#define _GNU_SOURCE
#include "tests/needs.h"
#include "toolkit.h"

#define PATCH                                                                                      \
  "Title: a bug\nCaught-by: check\nExpect: nothing\nStory: none\n"                                 \
  "--- a/steps/99_recorded/attention.cu\n+++ b/steps/99_recorded/attention.cu\n"                   \
  "@@ -1,2 +1,2 @@\n // the first line\n-  the_second_line();\n+  another_line();\n"

static void enter(void) {
  needs_tool("patch");
  toolkit_enter();
  cr_assert_eq(toolkit_run("mkdir -p build/gpu common/tools/mutants common/kernel "
                           "steps/99_recorded/bugs steps/99_recorded/variants && touch results "
                           "common/kernel/a.cuh")
                   .status,
               0);
  toolkit_write("steps/99_recorded/bugs/1_bug.patch", PATCH);
  toolkit_write("steps/99_recorded/variants/other.patch", PATCH);
  toolkit_write_program("bin/make", "#!/bin/bash\n");
  toolkit_write_program("build/gpu/ladder",
                        "#!/bin/bash\n[ \"$1\" != --slug ] || exec echo test-gpu\necho timed\n");
  toolkit_write_program("build/gpu/step99-check", "#!/bin/bash\necho tried\n");
  toolkit_write_program("build/gpu/mutants", "#!/bin/bash\n");
}

TestSuite(unwritable, .init = enter, .fini = toolkit_leave);

Test(unwritable, records_of_faults_and_variants) {
  static const char *const scripts[] = {"bugs", "mutants", "variants"};
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "PATH=$PWD/bin:$PATH DEVICE=gpu RECORD=1 scripts/%s.sh 99_recorded 2>&1", scripts[i]);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s ended with %d: %s", scripts[i], result.status, result.out);
    cr_expect(strstr(result.out, "error: cannot write to results/test-gpu: results is a file"),
              "%s: %s", scripts[i], result.out);
    cr_expect(!strstr(result.out, "tried") && !strstr(result.out, "timed"), "%s: %s", scripts[i],
              result.out);
    cr_expect(!strstr(result.out, "1_bug"), "a bug was tried: %s", result.out);
  }
}

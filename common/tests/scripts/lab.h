// For tests of verbs that build: runs commands as from a separate shell, without
// the settings of the make that runs the tests, and without Criterion's.
#ifndef LAB_H
#define LAB_H

#include "toolkit.h"
#include <stdarg.h>

#define MAKE                                                                                       \
  "env -u BXFI_MAP -u MAKEFLAGS -u MAKELEVEL -u SANITIZE -u DEBUG -u MODE -u ARGS -u CONFIG "      \
  "make --no-print-directory DEVICE=cpu JOBS=2 WERROR=1 "
#define UNOPTIMISED                                                                                \
  "STEP_FLAGS='-O0 -DLAB_ONE_TYPE' " // of a step's kernels: the compiler's time is most of it

#define EXPECT_STATUS(result, expected)                                                            \
  cr_assert_eq((result).status, expected, "it ended with %d: %s", (result).status, (result).out)

// The folder of the participant's files, which LAB_WORK names.
static char lab_work[] = "/tmp/lab-workshop-XXXXXX";

// Runs a command of the shell from the root of the lab.
static inline script_result __attribute__((format(printf, 1, 2))) lab_run(const char *format, ...) {
  char command[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(command, sizeof command - sizeof " 2>&1", format, arguments);
  va_end(arguments);
  cr_assert(length < (int)(sizeof command - sizeof " 2>&1"), "the command is too long: %s",
            command);
  strcat(command, " 2>&1");
  return toolkit_run(command);
}

static inline void lab_enter(void) {
  cr_assert(mkdtemp(lab_work), "no temporary folder");
  cr_assert(setenv("LAB_WORK", lab_work, 1) == 0);
  cr_assert(unsetenv("STEPS_FOLDER") == 0 &&
            unsetenv("WERROR") == 0); // of the make that runs the tests
}

static inline void lab_leave(void) {
  lab_run("rm -rf %s build/cpu*/elsewhere/$(echo $LAB_WORK | sed 's|_|__|g; s|/|_.|g')*", lab_work);
}

#endif

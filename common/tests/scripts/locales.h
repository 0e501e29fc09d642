// For tests: makes other users' locales in the test's own folder. Skips the test when the
// machine cannot make them: Debian's package locales has the sources, and libc-bin the program.
#ifndef LOCALES_H
#define LOCALES_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

// Makes the locales, such as "de_DE tr_TR", each with a decimal
// comma, in the folder `locales` here, and lets programs find them.
static inline void locales_make(const char *names) {
  char command[512];
  snprintf(command, sizeof command,
           "mkdir -p locales && for l in %s; do localedef -i $l -f UTF-8 locales/$l.UTF-8 || exit; "
           "done >/dev/null 2>&1",
           names);
  if (system(command) != 0) {
    cr_skip_test("needs localedef and the sources of the locales %s (Debian's package locales)",
                 names);
  }
  char *folder = realpath("locales", NULL);
  cr_assert(folder && setenv("LOCPATH", folder, 1) == 0);
  free(folder);
}

#endif

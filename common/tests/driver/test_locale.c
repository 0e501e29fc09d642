// A step that changes the process's locale changes nothing in the record of it.
#define _GNU_SOURCE
#include "program.h"
#include "tests/scripts/locales.h"

static void find_sabotaged(void) { program_find("LAB_SABOTAGED"); }

static void leave(void) {
  cr_assert_eq(system("rm -rf locales"), 0);
  temporary_folder_leave();
}

TestSuite(locale, .init = find_sabotaged, .fini = leave);

Test(locale, a_step_that_speaks_german) {
  const char *const options = "--batch 1 --heads 1 --seq 4 --dim 16 --no-time --csv";
  locales_make("de_DE");
  const program_result plain = program_expect_good(options);
  cr_assert(strstr(plain.out, ",0.25,"), "no scale of a quarter: %s", plain.out);
  setenv("SABOTAGE", "locale", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  const program_result german = program_expect_good(options);
  cr_expect_str_eq(german.out, plain.out, "%s\ninstead of\n%s", german.out, plain.out);
}

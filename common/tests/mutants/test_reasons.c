// Tests the files that say why some mutants are no faults.
#include "mutants/reasons.h"

#include <criterion/criterion.h>
#include <string.h>

static bool read_text(reason_list *reasons, const char *text, error_text *error) {
  return reasons_read(reasons, "headers.txt", text, strlen(text), error);
}

Test(reasons, are_found_by_key) {
  reason_list reasons;
  error_text error;
  cr_assert(read_text(&reasons,
                      "# comment\n\na.cuh: bound: `<` -> `<=`: if (x < y) z(\"# no comment\");\n"
                      "    Slower only:\n  nothing is masked.\n# another\nb.cuh: key\n\tIt is.",
                      &error),
            "%s", error.text);
  cr_assert_str_eq(
      reasons_find(&reasons, "a.cuh: bound: `<` -> `<=`: if (x < y) z(\"# no comment\");"),
      "Slower only: nothing is masked.");
  cr_assert_null(reasons_find(&reasons, "a.cuh: bound"));
  cr_assert_not(reasons_all_used(&reasons, &error));
  cr_assert_not_null(strstr(error.text, "headers.txt:7: there is no such mutant any more"), "%s",
                     error.text);
  cr_assert_str_eq(reasons_find(&reasons, "b.cuh: key"), "It is.");
  cr_assert(reasons_all_used(&reasons, &error), "%s", error.text);
  reasons_free(&reasons);
}

Test(reasons, that_cannot_be_are_refused) {
  static const char *const cases[][2] = {
      {"a key\nanother key\n  reason\n", "headers.txt:1: this mutant has no reason"},
      {"a key\n", "headers.txt:1: this mutant has no reason"},
      {"# x\n  reason\n", "headers.txt:2: a reason without a mutant"},
      {"a key\n  reason\n\na key\n  reason\n",
       "headers.txt:4: this mutant has its reason in line 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reason_list reasons;
    error_text error;
    cr_assert_not(read_text(&reasons, cases[i][0], &error), "%s", cases[i][0]);
    cr_assert_not_null(strstr(error.text, cases[i][1]), "%s", error.text);
    reasons_free(&reasons);
  }
}

Test(reasons, of_none_are_a_file_of_none) {
  reason_list reasons;
  error_text error;
  cr_assert(read_text(&reasons, "# none yet\n", &error));
  cr_assert(reasons_all_used(&reasons, &error));
  reasons_free(&reasons);
}

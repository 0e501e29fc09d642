// Tests which ceilings a command line asks for.
#include "ceilings/ceiling.h"
#include <criterion/criterion.h>

static const ceiling two[] = {{.name = "copy_bandwidth"}, {.name = "read_bandwidth"}};

Test(names, all_are_wanted_if_none_is_named) {
  char *none[] = {NULL};
  cr_assert(ceiling_is_wanted(&two[0], none));
  cr_assert(ceiling_is_wanted(&two[1], none));
}

Test(names, only_the_named_ones_are_wanted) {
  char *names[] = {"read_bandwidth", NULL};
  cr_assert_not(ceiling_is_wanted(&two[0], names));
  cr_assert(ceiling_is_wanted(&two[1], names));
}

Test(names, an_unknown_one_is_refused) {
  error_text error;
  char *known[] = {"read_bandwidth", "copy_bandwidth", NULL};
  cr_assert(ceiling_names_are_known(two, 2, known, &error));
  char *wrong[] = {"copy_bandwidth", "read", NULL}; // not the beginning of a name either
  cr_assert_not(ceiling_names_are_known(two, 2, wrong, &error));
  cr_assert_str_eq(error.text,
                   "there is no ceiling 'read': there are copy_bandwidth, read_bandwidth");
}

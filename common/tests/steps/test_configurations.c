// How a step takes the name of a configuration. That each of them is right is in test_kernels.c.
#include "suite.h"
#include <criterion/criterion.h>
#include <string.h>

Test(configurations, unknown_ones_are_refused_by_name) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(!step_configure(&step, "7x7x7x7", &error));
  const char *words = step.configurations ? "has no configuration \"7x7x7x7\": it has "
                                          : "has one configuration only";
  cr_assert_not_null(strstr(error.text, words), "\"%s\" does not say \"%s\"", error.text, words);
}

// How a step takes the name of a configuration. That each of them is right is in test_kernels.c.
#include "suite.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(configurations, unknown_ones_are_refused_by_name) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(!step_configure(&step, "7x7x7x7", &error));
  const char *words = step.configurations ? "has no configuration \"7x7x7x7\": it has "
                                          : "has one configuration only";
  cr_assert_not_null(strstr(error.text, words), "\"%s\" does not say \"%s\"", error.text, words);
}

static bool takes(const char *name) {
  attention_step step = step_linked();
  error_text error;
  return step_configure(&step, name, &error);
}

// A name is taken as a whole: not its beginning, not with something behind it, and not with another last character.
Test(configurations, similar_names_are_refused) {
  cr_assert(takes(NULL));
  cr_assert(!takes(""));
  const attention_step step = step_linked();
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    char name[64];
    const int length = (int)strlen(*known);
    cr_assert(takes(*known), "%s", *known);
    snprintf(name, sizeof name, "%.*s", length - 1, *known);
    cr_assert(!takes(name), "%s", name);
    snprintf(name, sizeof name, "%.*sx", length - 1, *known);
    cr_assert(!takes(name), "%s", name);
    snprintf(name, sizeof name, "%sx", *known);
    cr_assert(!takes(name), "%s", name);
  }
}

// A number of splits is written in digits alone, and is from 1 to 65536. A configuration may stand in front of it.
Test(configurations, numbers_of_splits) {
  static const char *const right[] = {":1", ":9", ":10", ":010", ":65536"};
  static const char *const wrong[] = {":", ":0", ":65537", ":x", ":2x", ":+2", ": 2", ":-2"};
  if (!takes(":1")) return; // it does not split the keys
  const char *known = step_linked().configurations()[0];
  char name[64];
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
    snprintf(name, sizeof name, "%s%s", known, right[i]);
    cr_assert(takes(right[i]) && takes(name), "%s", name);
    snprintf(name, sizeof name, "%.3s%s", known, right[i]);
    cr_assert(!takes(name), "%s", name);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    cr_assert(!takes(wrong[i]), "%s", wrong[i]);
}

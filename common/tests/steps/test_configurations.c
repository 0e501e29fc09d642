// A step with several configurations is right in each of them, not only in the one it prefers.
#include "suite.h"
#include <criterion/criterion.h>
#include <string.h>

static void expect_right_in(const char *name) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(step_configure(&step, name, &error), "%s", error.text);
  int right = 0;
  const int head_dims[] = {64, 128, 40, 33, 1};
  for (size_t i = 0; i < sizeof head_dims / sizeof head_dims[0]; i++) {
    const attention_shape shape =
        suite_shape(i % 2 ? ATTENTION_BF16 : ATTENTION_FP16, 150, 210, head_dims[i], i % 2 == 0);
    if (step.unsupported(&shape)) continue;
    trial trial;
    suite_prepare(&trial, shape, INPUTS_NORMAL);
    check_result result;
    cr_assert(trial_run(&trial, &step, NULL, &error), "%s, dim %d: %s", name, head_dims[i],
              error.text);
    cr_assert(trial_check(&trial, &result), "%s, dim %d: %s", name, head_dims[i],
              result.message.text);
    trial_free(&trial);
    right++;
  }
  cr_assert_gt(right, 0, "configuration %s refuses every head_dim", name);
}

Test(configurations, each_is_right) {
  const attention_step step = step_linked();
  if (!step.configurations) return; // a step of one configuration has shown it elsewhere
  for (const char *const *name = step.configurations(); *name; name++) expect_right_in(*name);
}

Test(configurations, unknown_ones_are_refused_by_name) {
  attention_step step = step_linked();
  error_text error;
  cr_assert(!step_configure(&step, "7x7x7x7", &error));
  const char *words = step.configurations ? "has no configuration \"7x7x7x7\": it has "
                                          : "has one configuration only";
  cr_assert_not_null(strstr(error.text, words), "\"%s\" does not say \"%s\"", error.text, words);
}

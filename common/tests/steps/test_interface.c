// What a step says of itself.
#include "suite.h"
#include <criterion/criterion.h>
#include <string.h>

Test(interface, name_and_summary) {
  const attention_step step = suite_step();
  cr_assert(step.name[0] >= '0' && step.name[0] <= '9' && step.name[2] == '_',
            "a step is named after its folder, such as 04_online_softmax, not \"%s\"", step.name);
  const size_t length = strlen(step.summary);
  cr_assert(length > 0 && length <= 60, "the summary is one short line, not \"%s\"", step.summary);
}

Test(interface, refuses_a_head_dim_of_129_by_name) {
  const attention_shape shape = suite_shape(ATTENTION_FP16, 64, 64, 129, false);
  const char *reason = suite_step().unsupported(&shape);
  cr_assert_not_null(reason);
  cr_assert_not_null(strstr(reason, "head_dim"), "\"%s\" does not name head_dim", reason);
}

Test(interface, workspace_that_cannot_be_counted) {
  attention_shape shape = suite_shape(ATTENTION_FP16, 1 << 30, 1 << 30, 1, false);
  shape.batch = shape.heads = shape.kv_heads = 1 << 20;
  const size_t bytes = suite_step().workspace_bytes(&shape);
  cr_assert(bytes == 0 || bytes == SIZE_MAX || bytes < SIZE_MAX / 2,
            "%zu bytes look like a product that has wrapped around", bytes);
}

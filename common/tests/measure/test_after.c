// Tests what measure_steps finds out about launches that were timed, once they have been.
#include "measured_trial.h"

TestSuite(after, .init = create_trial, .fini = free_trial);

static size_t workspace_bytes(const attention_shape *shape) { return shape ? 1000 : 0; }

static cudaError_t forward_outside(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  cudaMemset((char *)arguments->workspace + 1000, 0, 1);
  return cudaDeviceSynchronize();
}

// A write outside of the copies, of which O is the last.
static cudaError_t forward_behind(const attention_args *arguments, cudaStream_t stream) {
  (void)stream;
  if (arguments->o != tested.device_o.data) cudaMemset((char *)arguments->o + 2304, 0, 1);
  return cudaDeviceSynchronize();
}

Test(after, what_the_timed_launches_write_outside_is_found) {
  static const struct {
    attention_step step;
    const char *sentence;
  } cases[] = {
      {{.name = "outside", .forward = forward_outside, .workspace_bytes = workspace_bytes},
       "while the step was timed, something was written outside the workspace: 1 byte past its "
       "end"},
      {{.name = "behind", .forward = forward_behind, .workspace_bytes = workspace_bytes},
       "while the step was timed, something was written outside the copies of the tensors for "
       "timing: 1 byte past its end"},
  };
  const measure_plan plan = small_plan(SET_BYTES);
  for (size_t i = 0; i < 2; i++) {
    check_result found = {0};
    error_text error;
    cr_assert(measure_steps(&tested, &cases[i].step, 1, &plan, &measured, &error), "%s",
              error.text);
    cr_expect(!measured_steps_check(&measured, 0, &found));
    cr_expect_str_eq(found.message.text, cases[i].sentence, "%s", found.message.text);
    measured_steps_free(&measured);
    guard_free(&tested.workspace); // it is damaged
  }
}

// One library has one configuration at a time, and two contenders may be the same library in two configurations. A trial
// asks for the workspace of the one that it runs.
#include "shape/shape.h"
#include "trial/trial.h"

#include <criterion/criterion.h>
#include <string.h>

static size_t configured, asked; // bytes of workspace
static int launches;

static bool configure(const char *name) {
  configured = name ? 4096 : 16;
  return true;
}

static size_t workspace_bytes(const attention_shape *shape) {
  (void)shape;
  return asked = configured;
}

static cudaError_t forward(const attention_args *args, cudaStream_t stream) {
  (void)args;
  (void)stream;
  launches++;
  return asked == configured ? cudaSuccess : cudaErrorInvalidValue;
}

Test(configured, before_the_workspace_is_asked_for) {
  const attention_shape shape = {
      .batch = 1, .heads = 1, .kv_heads = 1, .seq_q = 2, .seq_kv = 2, .head_dim = 8, .scale = 1.0f};
  const attention_step small = {
      .configure = configure, .workspace_bytes = workspace_bytes, .forward = forward};
  attention_step large = small;
  large.configuration = "large";
  trial trial;
  error_text error;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  memset(trial.q, 0, 2 * shape_q_count(&shape));
  memset(trial.k, 0, 2 * shape_kv_count(&shape));
  memset(trial.v, 0, 2 * shape_kv_count(&shape));
  cr_assert(trial_upload(&trial, &error), "%s", error.text);
  for (int round = 0; round < 2; round++) {
    cr_expect(trial_run(&trial, &small, NULL, &error), "small: %s", error.text);
    cr_expect_eq(trial.workspace.bytes, 16);
    cr_expect(trial_run(&trial, &large, NULL, &error), "large: %s", error.text);
    cr_expect_eq(trial.workspace.bytes, 4096);
  }
  launches = 0;
  cr_expect_not(trial.launch_failed);
  cr_expect(trial_run_in_a_row(&trial, &large, NULL, &error), "large: %s", error.text);
  cr_expect_eq(launches, 2);
  asked = 0;
  cr_expect_not(trial_run_in_a_row(&trial, &large, NULL, &error), "a launch that fails");
  cr_expect(trial.launch_failed, "the step is at fault");
  trial_free(&trial);
}

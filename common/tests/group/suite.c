#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "inputs/inputs.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

attention_step group_suite_step(void) {
  attention_step step = step_linked();
  const char *name = getenv("LAB_CONFIG");
  error_text error;
  if (name && *name) cr_assert(step_configure(&step, name, &error), "%s", error.text);
  return step;
}

int group_suite_gpus(void) {
  setenv("EMU_GPUS", "5", 0); // a GPU does not read it
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  int gpus = 0;
  cr_assert_eq(cudaGetDeviceCount(&gpus), cudaSuccess);
  // A test with too few GPUs is left out without a word, which must not happen because it asks for them too late.
  if (device.emulated)
    cr_assert_eq(gpus, atoi(getenv("EMU_GPUS")),
                 "the emulator has begun with %d GPUs: call group_suite_gpus first", gpus);
  return gpus;
}

attention_shape group_suite_shape(attention_dtype dtype, int seq_q, int seq_kv, int head_dim,
                                  bool causal) {
  const float scale = 1.0f / sqrtf((float)head_dim);
  return (attention_shape){dtype, 1, 2, 2, seq_q, seq_kv, head_dim, causal, scale};
}

void group_suite_prepare(trial *trial, const attention_shape *shape) {
  static uint64_t seed = 1;
  error_text error;
  cr_assert(trial_create(trial, shape, &error), "%s", error.text);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_Q, seed, trial->q);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_K, seed, trial->k);
  inputs_fill(shape, INPUTS_NORMAL, INPUTS_V, seed, trial->v);
  seed++;
  cr_assert(trial_reference(trial, &error), "%s", error.text);
}

// The group of so many ranks, not dealt to. On GPUs it takes a second to connect one, so each number of ranks is
// connected once.
static gpu_group *connected(int ranks) {
  static gpu_group groups[GROUP_MOST_RANKS + 1];
  error_text error;
  if (groups[ranks].ranks == 0)
    cr_assert(group_open(&groups[ranks], ranks, &error), "%s", error.text);
  return &groups[ranks];
}

void group_suite_run_and_check(const attention_step *step, trial *trial, int ranks) {
  const shape_text where = shape_describe(&trial->shape);
  error_text error;
  check_result result;
  gpu_group *group = connected(ranks);
  cr_assert(group_deal(group, step, trial, &error), "%s", error.text);
  for (int o_alone = 0; o_alone <= 1; o_alone++) {
    trial->o_alone = o_alone;
    cr_assert(group_run(group, step, 1, trial, &error), "%d ranks, %s: %s", ranks, where.text,
              error.text);
    cr_assert(group_check(group, trial, &result), "%d ranks, %s%s: %s", ranks, where.text,
              o_alone ? ", O alone" : "", result.message.text);
    cr_assert_eq(result.ill_conditioned, 0, "%d ranks, %s%s: %s", ranks, where.text,
                 o_alone ? ", O alone" : "", result.message.text);
  }
  group_undeal(group);
}

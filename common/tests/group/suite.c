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

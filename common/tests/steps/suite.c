#include "suite.h"

#include "device/device.h"
#include "tests/left_out.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

attention_step suite_step(void) {
  attention_step step = step_linked();
  const char *name = getenv("LAB_CONFIG");
  error_text error;
  if (name && *name) cr_assert(step_configure(&step, name, &error), "%s", error.text);
  return step;
}

bool suite_emulated(void) {
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  return device.emulated;
}

attention_shape suite_shape(attention_dtype dtype, int seq_q, int seq_kv, int head_dim,
                            bool causal) {
  return (attention_shape){
      .dtype = dtype,
      .batch = 1,
      .heads = 2,
      .kv_heads = 2,
      .seq_q = seq_q,
      .seq_kv = seq_kv,
      .head_dim = head_dim,
      .causal = causal,
      .scale = 1.0f / sqrtf((float)head_dim),
  };
}

attention_dtype suite_bf16(void) {
  const attention_shape shape = suite_shape(ATTENTION_BF16, 64, 64, 64, false);
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  const char *reason = suite_step().unsupported(&shape);
  return left_out(reason) || (reason && device.compute_capability < 80) ? ATTENTION_FP16
                                                                        : ATTENTION_BF16;
}

void suite_create(trial *trial, attention_shape shape) {
  error_text error;
  cr_assert(trial_create(trial, &shape, &error), "%s: %s", shape_describe(&shape).text, error.text);
}

// Computes `per_head` rows of the reference, or all for 0.
static void upload(trial *trial, size_t per_head) {
  const shape_text where = shape_describe(&trial->shape);
  error_text error;
  cr_assert(trial_upload(trial, &error), "%s: %s", where.text, error.text);
  cr_assert(per_head ? trial_reference_some(trial, per_head, 1, &error)
                     : trial_reference(trial, &error),
            "%s: %s", where.text, error.text);
}

void suite_upload(trial *trial) { upload(trial, 0); }

static void fill(trial *trial, attention_shape shape, inputs_kind kind) {
  static uint64_t seed = 1; // every problem of a test has numbers of its own
  suite_create(trial, shape);
  inputs_fill(&shape, kind, INPUTS_Q, seed, trial->q);
  inputs_fill(&shape, kind, INPUTS_K, seed, trial->k);
  inputs_fill(&shape, kind, INPUTS_V, seed, trial->v);
  seed++;
}

void suite_prepare(trial *trial, attention_shape shape, inputs_kind kind) {
  fill(trial, shape, kind);
  suite_upload(trial);
}

// Runs and checks the step as it is configured. `name` is that of the configuration, or NULL.
static void run_and_check(trial *trial, const attention_step *step, const char *name,
                          cudaStream_t stream) {
  const char *limit = suite_emulated() ? getenv("EMU_GRID_LIMIT") : NULL;
  char where
      [256]; // the problem, the configuration if it is not the step's choice, and a limit of the test
  snprintf(where, sizeof where, "%s%s%s%s%s%s", shape_describe(&trial->shape).text,
           name ? ", --config " : "", name ? name : "", limit ? ", in a grid of at most " : "",
           limit ? limit : "", limit ? " blocks in y and in z (EMU_GRID_LIMIT)" : "");
  error_text error;
  check_result result;
  cr_assert(trial_run(trial, step, stream, &error), "%s: %s", where, error.text);
  cr_assert(trial_check(trial, &result), "%s: %s", where, result.message.text);
  cr_assert_eq(result.ill_conditioned, 0,
               "%s: %s. A step does better here: it subtracts the row's max from such large scores "
               "themselves, before it scales them",
               where, result.message.text);
}

// What takes time on a GPU is the context of a test and the reference of a trial. So every other configuration runs there
// as well: nvcc compiles each on its own, and a mistake of nvcc need not be in the one that the step chooses.
static void run_and_check_others(trial *trial, cudaStream_t stream) {
  attention_step step = step_linked();
  error_text error;
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    cr_assert(step_configure(&step, *known, &error), "%s", error.text);
    if (!step.unsupported(&trial->shape)) run_and_check(trial, &step, *known, stream);
  }
  if (step.configure) step.configure(NULL);
}

void suite_run_and_check(trial *trial, cudaStream_t stream) {
  const char *name = getenv("LAB_CONFIG");
  const bool chosen = name && *name;
  if (!chosen && !suite_emulated()) run_and_check_others(trial, stream);
  const attention_step step = suite_step();
  run_and_check(trial, &step, chosen ? name : NULL, stream); // last, because tests go on from here
}

void suite_expect_right_again(trial *trial, const attention_args *arguments) {
  error_text error;
  check_result result;
  cr_assert(device_ok(suite_step().forward(arguments, NULL), "launching", &error), "%s",
            error.text);
  cr_assert(device_ok(cudaDeviceSynchronize(), "running", &error), "%s", error.text);
  cr_assert(device_ok(
      cudaMemcpy(trial->o, trial->device_o.data, trial->device_o.bytes, cudaMemcpyDeviceToHost),
      "copying O back", &error));
  cr_assert(trial_check(trial, &result), "%s", result.message.text);
}

static void expect_right(attention_shape shape, inputs_kind kind, size_t per_head) {
  const attention_step step = suite_step();
  if (step.unsupported(&shape)) return;
  trial trial;
  fill(&trial, shape, kind);
  upload(&trial, per_head);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

void suite_expect_right(attention_shape shape, inputs_kind kind) { expect_right(shape, kind, 0); }

void suite_expect_some_rows_right(attention_shape shape, inputs_kind kind, size_t per_head) {
  expect_right(shape, kind, per_head);
}

// A step is right more than once: in repeated launches, in two streams at once, and without lse.
#define _POSIX_C_SOURCE 200809L // setenv

#include "device/device.h"
#include "suite.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// A kernel may pass its first launch and fail in a loop of twenty, because a race moves from run to run. A GPU runs a
// thousand launches. The emulator runs twenty: its launches differ in the order of threads and blocks, and in where
// dynamic shared memory begins.
static void expect_bit_identical(attention_shape shape) {
  const bool emulated = suite_emulated();
  const int rounds = 10, in_a_row = emulated ? 2 : 100;
  error_text error;
  trial trial;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);

  const size_t o_bytes = shape_q_count(&trial.shape) * sizeof(uint16_t);
  const size_t lse_bytes = shape_lse_count(&trial.shape) * sizeof(float);
  uint16_t *first_o = malloc(o_bytes);
  float *first_lse = malloc(lse_bytes);
  cr_assert(first_o && first_lse);
  memcpy(first_o, trial.o, o_bytes);
  memcpy(first_lse, trial.lse, lse_bytes);

  const attention_step step = suite_step();
  const attention_args arguments = trial_arguments(&trial);
  device_shuffle_blocks();
  for (int round = 1; round <= rounds; round++) {
    device_set_schedule((uint64_t)round);               // a GPU has its own order
    for (int launch = 0; launch < in_a_row; launch++) { // none waits for the one before
      // Rows that a launch leaves out must not look right because the launch before has written them.
      cr_assert(device_ok(cudaMemsetAsync(trial.device_o.data, 0xFF, o_bytes, NULL), "filling O",
                          &error) &&
                device_ok(cudaMemsetAsync(trial.device_lse.data, 0xFF, lse_bytes, NULL),
                          "filling lse", &error));
      cr_assert(device_ok(step.forward(&arguments, NULL), "launching", &error), "%s", error.text);
    }
    cr_assert(device_ok(cudaDeviceSynchronize(), "running", &error), "%s", error.text);
    cr_assert(device_ok(cudaMemcpy(trial.o, trial.device_o.data, o_bytes, cudaMemcpyDeviceToHost),
                        "copying O back", &error));
    cr_assert(
        device_ok(cudaMemcpy(trial.lse, trial.device_lse.data, lse_bytes, cudaMemcpyDeviceToHost),
                  "copying lse back", &error));
    cr_assert(memcmp(first_o, trial.o, o_bytes) == 0, "O of launch %d differs from the first",
              round * in_a_row);
    cr_assert(memcmp(first_lse, trial.lse, lse_bytes) == 0, "lse of launch %d differs",
              round * in_a_row);
  }
  free(first_o);
  free(first_lse);
  trial_free(&trial);
}

// A problem that fills a GPU.
Test(launches, in_a_row_are_bit_identical) {
  const bool emulated = suite_emulated();
  const int length = emulated ? 130 : 900;
  attention_shape shape = suite_shape(ATTENTION_FP16, length, length, 64, true);
  if (!emulated) shape.heads = shape.kv_heads = 32;
  expect_bit_identical(shape);
}

// Few rows and many keys, which some steps divide among blocks, and then merge.
Test(launches, that_merge_are_bit_identical) {
  const bool emulated = suite_emulated();
  attention_shape shape = suite_shape(ATTENTION_FP16, 3, emulated ? 600 : 4500, 64, false);
  if (!emulated) shape.heads = shape.kv_heads = 8;
  expect_bit_identical(shape);
}

Test(launches, two_streams_at_once) {
  setenv("EMU_MULTIPROCESSORS", "2", 1);
  enum { STREAMS = 2 };
  const int launches = suite_emulated() ? 8 : 500;
  const attention_step step = suite_step();
  error_text error;
  cudaStream_t streams[STREAMS]; // each with tensors and a workspace of its own
  trial trials[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    attention_shape shape = suite_shape(suite_bf16(), 150 + 40 * i, 150, 64, true);
    shape.heads = shape.kv_heads = suite_emulated() ? 3 : 140; // more tiles than multiprocessors
    suite_prepare(&trials[i], shape, INPUTS_NORMAL);
    cr_assert(device_ok(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking),
                        "creating a stream", &error));
    suite_run_and_check(&trials[i], streams[i]);
  }
  for (int launch = 0; launch < launches; launch++) {
    for (int i = 0; i < STREAMS; i++) {
      const attention_args arguments = trial_arguments(&trials[i]);
      cr_assert(device_ok(step.forward(&arguments, streams[i]), "launching", &error), "%s",
                error.text);
    }
  }
  for (int i = 0; i < STREAMS; i++) {
    check_result result;
    trial *trial = &trials[i];
    cr_assert(device_ok(cudaStreamSynchronize(streams[i]), "running", &error), "%s", error.text);
    cr_assert(device_ok(
        cudaMemcpy(trial->o, trial->device_o.data, trial->device_o.bytes, cudaMemcpyDeviceToHost),
        "copying O back", &error));
    cr_assert(trial_check(trial, &result), "stream %d: %s", i, result.message.text);
    cudaStreamDestroy(streams[i]);
    trial_free(trial);
  }
}

static void expect_right_without_lse(attention_shape shape) {
  error_text error;
  trial trial;
  suite_prepare(&trial, shape, INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);

  attention_args arguments = trial_arguments(&trial);
  arguments.lse = NULL;
  cr_assert(guard_poison(&trial.device_o, &error) &&
            guard_poison_workspace(&trial.workspace, &error));
  suite_expect_right_again(&trial, &arguments);
  trial_free(&trial);
}

// The second shape is for steps that split the keys, and merge what the splits give.
Test(launches, lse_is_optional) {
  expect_right_without_lse(suite_shape(ATTENTION_FP16, 65, 65, 64, false));
  expect_right_without_lse(suite_shape(ATTENTION_FP16, 3, 300, 64, true));
}

// No launch may keep what an earlier one has computed: those of O alone are what is timed.
Test(launches, o_alone_with_other_values) {
  error_text error;
  trial trial;
  suite_prepare(&trial, suite_shape(ATTENTION_FP16, 65, 65, 64, false), INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  attention_args arguments = trial_arguments(&trial);
  arguments.lse = NULL;
  for (int round = 0; round < 3; round++) {
    cr_assert(guard_poison(&trial.device_o, &error));
    suite_expect_right_again(&trial, &arguments);
    for (size_t i = 0; i < shape_kv_count(&trial.shape); i++) trial.v[i] ^= 0x8000;
    suite_upload(&trial);
    cr_assert(trial_reference(&trial, &error), "%s", error.text);
  }
  trial_free(&trial);
}

enum { SHIFT = 16 };

// Returns a copy that begins 16 bytes behind what cudaMalloc() gives, which is a multiple of 256.
static void *shifted(const guarded_buffer *buffer) {
  char *memory;
  cr_assert_eq(cudaMalloc((void **)&memory, buffer->bytes + SHIFT), cudaSuccess);
  cr_assert_eq(cudaMemcpy(memory + SHIFT, buffer->data, buffer->bytes, cudaMemcpyDeviceToDevice),
               cudaSuccess);
  return memory + SHIFT;
}
static void free_shifted(const void *copy) { cudaFree((char *)(uintptr_t)copy - SHIFT); }

// attention.h promises no more.
Test(launches, tensors_at_multiples_of_16_bytes) {
  error_text error;
  trial trial;
  suite_prepare(&trial, suite_shape(ATTENTION_FP16, 65, 130, 64, true), INPUTS_NORMAL);
  suite_run_and_check(&trial, NULL);
  attention_args arguments = trial_arguments(&trial);
  arguments.q = shifted(&trial.device_q);
  arguments.k = shifted(&trial.device_k);
  arguments.v = shifted(&trial.device_v);
  cr_assert(guard_poison(&trial.device_o, &error) && guard_poison(&trial.device_lse, &error));
  arguments.o = shifted(&trial.device_o);
  arguments.lse = shifted(&trial.device_lse);
  cr_assert(device_ok(suite_step().forward(&arguments, NULL), "launching", &error), "%s",
            error.text);
  cr_assert(device_ok(cudaDeviceSynchronize(), "running", &error), "%s", error.text);
  check_result result;
  cr_assert_eq(cudaMemcpy(trial.o, arguments.o, trial.device_o.bytes, cudaMemcpyDeviceToHost),
               cudaSuccess);
  cr_assert_eq(cudaMemcpy(trial.lse, arguments.lse, trial.device_lse.bytes, cudaMemcpyDeviceToHost),
               cudaSuccess);
  cr_assert(trial_check(&trial, &result), "%s", result.message.text);
  const void *const copies[] = {arguments.q, arguments.k, arguments.v, arguments.o, arguments.lse};
  for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) free_shifted(copies[i]);
  trial_free(&trial);
}

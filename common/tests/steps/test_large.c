// A step is right for a tensor with more than 2^31 elements, where an index of 32
// bits wraps around. It runs on a GPU only, because the emulator would take hours.
#include "device/device.h"
#include "suite.h"
#include <criterion/criterion.h>
#include <string.h>

enum { GIGABYTES_NEEDED = 48 };

// Whether the device has the memory; else skips the test.
static bool has_room(void) {
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  return !device.emulated && device.memory_bytes >= (size_t)GIGABYTES_NEEDED << 30;
}

static void *device_zeros(size_t bytes, int byte) {
  error_text error;
  void *memory;
  cr_assert(device_ok(cudaMalloc(&memory, bytes), "allocating 4 GB", &error), "%s", error.text);
  cr_assert(device_ok(cudaMemset(memory, byte, bytes), "clearing them", &error), "%s", error.text);
  return memory;
}

// All heads but the last are zeros. That one is the problem of `trial`, whose O and lse take the result.
static void run_as_last_head(trial *trial, int batch, int heads) {
  const attention_step step = suite_step();
  const size_t before = (size_t)batch * heads - 1; // heads
  const size_t o_bytes = shape_q_count(&trial->shape) * sizeof(uint16_t);
  const size_t lse_bytes = shape_lse_count(&trial->shape) * sizeof(float);
  const size_t kv_bytes = shape_kv_count(&trial->shape) * sizeof(uint16_t);
  attention_args arguments = {.shape = trial->shape};
  arguments.shape.batch = batch;
  arguments.shape.heads = arguments.shape.kv_heads = heads;
  char *q = device_zeros((before + 1) * o_bytes, 0), *k = device_zeros((before + 1) * kv_bytes, 0);
  char *v = device_zeros((before + 1) * kv_bytes, 0),
       *o = device_zeros((before + 1) * o_bytes, 0xFF);
  char *lse = device_zeros((before + 1) * lse_bytes, 0xFF);
  const size_t workspace = step.workspace_bytes(&arguments.shape);
  arguments.workspace = workspace > 0 ? device_zeros(workspace, 0xFF) : NULL;
  arguments.q = q, arguments.k = k, arguments.v = v, arguments.o = o, arguments.lse = (float *)lse;
  cudaMemcpy(q + before * o_bytes, trial->q, o_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(k + before * kv_bytes, trial->k, kv_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(v + before * kv_bytes, trial->v, kv_bytes, cudaMemcpyHostToDevice);
  error_text error;
  cr_assert(device_ok(step.forward(&arguments, NULL), "launching", &error), "%s", error.text);
  cr_assert(device_ok(cudaDeviceSynchronize(), "running", &error), "%s", error.text);
  cudaMemcpy(trial->o, o + before * o_bytes, o_bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(trial->lse, lse + before * lse_bytes, lse_bytes, cudaMemcpyDeviceToHost);
  void *const all[] = {q, k, v, o, lse, arguments.workspace};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) cudaFree(all[i]);
}

Test(large, heads, .timeout = 300) {
  if (!has_room()) cr_skip_test("needs a GPU with %d GB", GIGABYTES_NEEDED);
  for (int causal = 0; causal <= 1;
       causal++) { // 4097 x 64 heads of 129 x 64 elements: 2^31 and 17 million
    trial trial;
    attention_shape shape = suite_shape(ATTENTION_FP16, 129, 129, 64, causal);
    shape.heads = shape.kv_heads = 1;
    suite_prepare(&trial, shape, INPUTS_NORMAL);
    run_as_last_head(&trial, 4097, 64);
    check_result result;
    cr_assert(trial_check(&trial, &result), "head 63 of batch entry 4096: %s", result.message.text);
    trial_free(&trial);
  }
}

// One query, and so many keys that the last ones lie behind 2^31 elements of K and V. All others are zeros, and
// these count for more than all others together.
Test(large, keys, .timeout = 300) {
  if (!has_room()) cr_skip_test("needs a GPU with %d GB", GIGABYTES_NEEDED);
  enum { KEYS = (1 << 25) + 64, HEAD_DIM = 64, LAST = 32 };
  const uint16_t one = 0x3C00, four = 0x4400, fourth = 1 << 8; // fp16: 1, 4, and 1/4 more than 4
  attention_shape shape = suite_shape(ATTENTION_FP16, 1, KEYS, HEAD_DIM, false);
  shape.heads = shape.kv_heads = 1;
  trial trial;
  error_text error;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  const size_t count = shape_kv_count(&shape);
  memset(trial.k, 0, count * sizeof *trial.k);
  memset(trial.v, 0, count * sizeof *trial.v);
  for (int i = 0; i < HEAD_DIM; i++) trial.q[i] = one;
  for (size_t i = 0; i < LAST * HEAD_DIM; i++) {
    trial.k[count - 1 - i] = (uint16_t)(four + i / HEAD_DIM % 4 * fourth); // scores of 32 to 38
    trial.v[count - 1 - i] = (uint16_t)(one + i % 512);
  }
  cr_assert(trial_upload(&trial, &error) && trial_reference(&trial, &error), "%s", error.text);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

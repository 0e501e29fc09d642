// A step is right for a tensor with more than 2^31 elements, where an index of 32
// bits wraps around. It runs on a GPU only, because the emulator would take hours.
#include "device/device.h"
#include "suite.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

enum { GIGABYTES_NEEDED = 48 };

// Whether the device has the memory; else skips the test. Several programs run at a time, and the memory does not
// suffice for all of them, so each test waits here until it has the lock on the folder. Its process keeps the lock.
static bool has_room(void) {
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  if (device.emulated || device.memory_bytes < (size_t)GIGABYTES_NEEDED << 30) return false;
  cr_assert_eq(flock(open(".", O_RDONLY), LOCK_EX), 0, "the folder cannot be locked");
  return true;
}

typedef struct {
  char *data;        // all bytes the same at first
  size_t end, bytes; // where the part of the trial begins, and how much that is
} large_tensor;

static large_tensor allocate(size_t whole, size_t part, size_t element, int byte) {
  error_text error;
  void *memory;
  cr_assert(device_ok(cudaMalloc(&memory, whole * element), "allocating gigabytes", &error), "%s",
            error.text);
  cr_assert(device_ok(cudaMemset(memory, byte, whole * element), "filling them", &error), "%s",
            error.text);
  return (large_tensor){memory, (whole - part) * element, part * element};
}

static void copy_in(large_tensor tensor, const void *host) {
  error_text error;
  cr_assert(
      device_ok(cudaMemcpy(tensor.data + tensor.end, host, tensor.bytes, cudaMemcpyHostToDevice),
                "copying an input", &error),
      "%s", error.text);
}

static void copy_out(void *host, large_tensor tensor) {
  error_text error;
  cr_assert(
      device_ok(cudaMemcpy(host, tensor.data + tensor.end, tensor.bytes, cudaMemcpyDeviceToHost),
                "copying an output", &error),
      "%s", error.text);
}

// Runs the step on a problem of shape `whole`. Its Q, K and V are zeros that end with the tensors of `trial`, whose O
// and lse take the end of the result.
static void run_behind_zeros(trial *trial, attention_shape whole) {
  const attention_step step = suite_step();
  const attention_shape *part = &trial->shape;
  const large_tensor q = allocate(shape_q_count(&whole), shape_q_count(part), sizeof(uint16_t), 0);
  const large_tensor k =
      allocate(shape_kv_count(&whole), shape_kv_count(part), sizeof(uint16_t), 0);
  const large_tensor v =
      allocate(shape_kv_count(&whole), shape_kv_count(part), sizeof(uint16_t), 0);
  const large_tensor o =
      allocate(shape_q_count(&whole), shape_q_count(part), sizeof(uint16_t), 0xFF);
  const large_tensor lse =
      allocate(shape_lse_count(&whole), shape_lse_count(part), sizeof(float), 0xFF);
  const size_t bytes = step.workspace_bytes(&whole);
  const large_tensor workspace = bytes > 0 ? allocate(bytes, 0, 1, 0xFF) : (large_tensor){0};
  copy_in(q, trial->q);
  copy_in(k, trial->k);
  copy_in(v, trial->v);
  const attention_args arguments = {.shape = whole,
                                    .q = q.data,
                                    .k = k.data,
                                    .v = v.data,
                                    .o = o.data,
                                    .lse = (float *)lse.data,
                                    .workspace = workspace.data};
  error_text error;
  cr_assert(device_ok(step.forward(&arguments, NULL), "launching", &error), "%s", error.text);
  cr_assert(device_ok(device_wait(NULL), "running", &error), "%s", error.text);
  copy_out(trial->o, o);
  copy_out(trial->lse, lse);
  const large_tensor all[] = {q, k, v, o, lse, workspace};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) cudaFree(all[i].data);
}

// All heads but the last are zeros.
Test(large, heads, .timeout = 300) {
  if (!has_room()) cr_skip_test("needs a GPU with %d GB", GIGABYTES_NEEDED);
  for (int causal = 0; causal <= 1; causal++) {
    trial trial;
    attention_shape shape = suite_shape(ATTENTION_FP16, 129, 129, 64, causal);
    shape.heads = shape.kv_heads = 1;
    suite_prepare(&trial, shape, INPUTS_NORMAL);
    shape.batch = 4097; // 4097 x 64 heads of 129 x 64 elements: 2^31 and 17 million
    shape.heads = shape.kv_heads = 64;
    run_behind_zeros(&trial, shape);
    check_result result;
    cr_assert(trial_check(&trial, &result), "head 63 of batch entry 4096: %s", result.message.text);
    trial_free(&trial);
  }
}

// One query, and so many keys that the last ones lie behind 2^31 elements of K and V. The last 32 keys have scores of
// 32 to 38, and all others have scores of 0. These count for 10^-10 of the sum together, so the result is that of the
// last 64 keys alone.
Test(large, keys, .timeout = 300) {
  if (!has_room()) cr_skip_test("needs a GPU with %d GB", GIGABYTES_NEEDED);
  enum { KEYS = (1 << 25) + 64, HEAD_DIM = 64, LAST = 32 };
  const uint16_t one = 0x3C00, four = 0x4400, fourth = 1 << 8; // fp16: 1, 4, and 1/4 more than 4
  attention_shape shape = suite_shape(ATTENTION_FP16, 1, 2 * LAST, HEAD_DIM, false);
  shape.heads = shape.kv_heads = 1;
  trial trial;
  suite_create(&trial, shape);
  const size_t count = shape_kv_count(&shape);
  memset(trial.k, 0, count * sizeof *trial.k);
  memset(trial.v, 0, count * sizeof *trial.v);
  for (int i = 0; i < HEAD_DIM; i++) trial.q[i] = one;
  for (size_t i = 0; i < LAST * HEAD_DIM; i++) {
    trial.k[count - 1 - i] = (uint16_t)(four + i / HEAD_DIM % 4 * fourth); // scores of 32 to 38
    trial.v[count - 1 - i] = (uint16_t)(one + i % 512);
  }
  suite_upload(&trial);
  shape.seq_kv = KEYS;
  run_behind_zeros(&trial, shape);
  check_result result;
  cr_assert(trial_check(&trial, &result), "%d keys: %s", KEYS, result.message.text);
  trial_free(&trial);
}

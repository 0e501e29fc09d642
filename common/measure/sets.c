#include "measure/sets.h"

#include "device/device.h"
#include "measure/measure.h"

attention_args buffer_sets_arguments(const buffer_sets *sets, size_t number) {
  attention_args arguments = sets->own;
  if (number == 0) return arguments;
  char *copy = (char *)sets->copies.data + (number - 1) * sets->bytes;
  arguments.q = copy + sets->offsets[0];
  arguments.k = copy + sets->offsets[1];
  arguments.v = copy + sets->offsets[2];
  arguments.o = copy + sets->offsets[3];
  return arguments;
}

static size_t align(size_t bytes) { return (bytes + 255) / 256 * 256; } // as cudaMalloc does

static size_t tensor_bytes(const trial *trial) {
  return align(trial->device_q.bytes) + align(trial->device_k.bytes) +
         align(trial->device_v.bytes) + align(trial->device_o.bytes);
}

size_t measure_copies_bytes(const trial *trial, size_t l2_bytes) {
  return (timing_rotations(tensor_bytes(trial), l2_bytes) - 1) * tensor_bytes(trial);
}

static bool copy(void *target, const void *source, size_t bytes, error_text *error) {
  return device_ok(cudaMemcpy(target, source, bytes, cudaMemcpyDeviceToDevice),
                   "copying the tensors for timing", error);
}

// Makes one allocation for all copies. Small tensors have thousands of copies, so each transfer doubles the
// number of copies that hold the inputs.
bool buffer_sets_create(const trial *trial, size_t l2_bytes, buffer_sets *sets, error_text *error) {
  const guarded_buffer *tensors[SETS_TENSORS] = {&trial->device_q, &trial->device_k,
                                                 &trial->device_v, &trial->device_o};
  *sets = (buffer_sets){.count = timing_rotations(tensor_bytes(trial), l2_bytes),
                        .bytes = tensor_bytes(trial),
                        .own = trial_arguments(trial)};
  sets->own.lse = NULL;
  for (int i = 1; i < SETS_TENSORS; i++) {
    sets->offsets[i] = sets->offsets[i - 1] + align(tensors[i - 1]->bytes);
  }
  const size_t copies = sets->count - 1;
  if (copies == 0) return true;
  bool good = guard_allocate(&sets->copies, "the copies of the tensors for timing",
                             copies * sets->bytes, trial->bare, error);
  char *const first = sets->copies.data;
  for (int i = 0; i < SETS_INPUTS && good; i++) {
    good = copy(first + sets->offsets[i], tensors[i]->data, tensors[i]->bytes, error);
  }
  for (size_t done = 1; done < copies && good; done *= 2) {
    const size_t more = done < copies - done ? done : copies - done;
    good = copy(first + done * sets->bytes, first, more * sets->bytes, error);
  }
  return good;
}

void buffer_sets_free(buffer_sets *sets) {
  guard_free(&sets->copies);
  *sets = (buffer_sets){0};
}

// For the tests of several emulated devices.
#ifndef TEST_DEVICES_H
#define TEST_DEVICES_H

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

// out[i] = in[i] + more, on the current device (devices.cu). The second copies three slices, each when its flag is not
// 0. The last asks for more shared memory than a kernel gets unless its device allows it.
void devices_add(const float *in, float *out, float more, int n, cudaStream_t stream);
void devices_poll(const float *slices, const int *flags, float *out, int slice,
                  cudaStream_t stream);
cudaError_t devices_allow_shared(int bytes);
cudaError_t devices_launch_shared(size_t bytes);

enum { N = 1000, BYTES = N * sizeof(float) };

static inline void two_gpus(void) {
  setenv("EMU_GPUS", "2", 1);
  setenv("EMU_SEED", "0", 1); // transfers are as late as they can be
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    const cudaError_t status_ = call;                                                              \
    cr_assert_eq(status_, cudaSuccess, "%s: %s", #call, cudaGetErrorName(status_));                \
  } while (0)

// Memory of the device, which becomes the current one, all of this value.
static inline float *on_device(int device, size_t count, float value) {
  float *host = malloc(count * sizeof *host), *memory;
  for (size_t i = 0; i < count; i++) host[i] = value;
  OK(cudaSetDevice(device));
  OK(cudaMalloc((void **)&memory, count * sizeof *memory));
  OK(cudaMemcpy(memory, host, count * sizeof *host, cudaMemcpyHostToDevice));
  free(host);
  return memory;
}

static inline float *read_back(const float *memory, size_t count) {
  float *host = malloc(count * sizeof *host);
  OK(cudaMemcpy(host, memory, count * sizeof *host, cudaMemcpyDeviceToHost));
  return host;
}

static inline void expect_all(const float *memory, size_t count, float value) {
  float *host = read_back(memory, count);
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(host[i], value, "[%zu] is %g, not %g", i, (double)host[i], (double)value);
  }
  free(host);
}

// All elements were computed from a copy that had not arrived.
static inline void expect_poison(const float *memory, size_t count) {
  float *host = read_back(memory, count);
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(poison_of_float(host[i]), POISON_COPY, "[%zu] is %g", i, (double)host[i]);
  }
  free(host);
}

static inline cudaStream_t stream_on(int device) {
  cudaStream_t stream;
  OK(cudaSetDevice(device));
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

// `later` goes on when `earlier` has come to this point.
static inline void wait_for(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t event;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  OK(cudaEventRecord(event, earlier));
  OK(cudaStreamWaitEvent(later, event, 0));
  OK(cudaEventDestroy(event));
}

#endif

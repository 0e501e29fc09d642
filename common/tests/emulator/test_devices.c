// Tests several emulated devices in one process: memory, streams and events, peers, and their faults.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fault_report.h"

void devices_add(const float *in, float *out, float more, int n, cudaStream_t stream);

enum { N = 1000, BYTES = N * sizeof(float) };

static void two_gpus(void) { setenv("EMU_GPUS", "2", 1); }

#define OK(call) cr_assert_eq(call, cudaSuccess)

static float *on_device(int device, float value) {
  float host[N], *memory;
  for (int i = 0; i < N; i++) host[i] = value;
  OK(cudaSetDevice(device));
  OK(cudaMalloc((void **)&memory, BYTES));
  OK(cudaMemcpy(memory, host, BYTES, cudaMemcpyHostToDevice));
  return memory;
}

static void expect_all(const float *memory, float value) {
  float host[N];
  OK(cudaMemcpy(host, memory, BYTES, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) cr_assert_eq(host[i], value, "[%d] is %g, not %g", i, host[i], value);
}

Test(devices, are_as_many_as_asked_for, .init = two_gpus) {
  int count, device, can;
  struct cudaDeviceProp properties;
  OK(cudaGetDeviceCount(&count));
  cr_assert_eq(count, 2);
  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  cr_assert_eq(device, 1);
  OK(cudaGetDeviceProperties(&properties, 1));
  cr_assert_eq(cudaSetDevice(2), cudaErrorInvalidDevice);
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  cr_assert(can);
  OK(cudaDeviceEnablePeerAccess(0, 0));
  cr_assert_eq(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
  cr_assert_eq(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  OK(cudaDeviceDisablePeerAccess(0));
  cr_assert_eq(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
}

Test(devices, copy_to_each_other_in_order, .init = two_gpus) {
  float *a = on_device(0, 1), *b = on_device(1, 2);
  cudaStream_t computes, copies;
  cudaEvent_t ready;
  OK(cudaSetDevice(0));
  OK(cudaStreamCreateWithFlags(&computes, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  OK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  devices_add(a, a, 4, N, computes);
  OK(cudaEventRecord(ready, computes));
  OK(cudaStreamWaitEvent(copies, ready, 0));
  OK(cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, copies));
  OK(cudaStreamSynchronize(copies));
  cr_assert_eq(emulator_link_bytes(0, 1), BYTES);
  cr_assert_eq(emulator_link_bytes(1, 0), 0);
  OK(cudaSetDevice(1));
  expect_all(b, 5);
}

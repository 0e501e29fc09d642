// Tests the reports of faults that several emulated devices can have: memory of another device that is freed too early, or
// that is read without the right to do so.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <cuda_runtime_api.h>

#include "devices.h"
#include "fault_report.h"

static float *far_memory;

bool healthy_launch(void) {
  float *memory;
  if (cudaMalloc((void **)&memory, BYTES) != cudaSuccess) return false;
  devices_add(memory, memory, 1, N, NULL);
  return cudaDeviceSynchronize() == cudaSuccess;
}

static void free_too_early(void) {
  float *a = on_device(0, N, 0), *b = on_device(1, N, 0);
  const cudaStream_t stream = stream_on(0);
  cudaMemcpyPeerAsync(b, 1, a, 0, BYTES, stream);
  cudaSetDevice(1);
  cudaFree(b);
  cudaSetDevice(0);
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

Test(device_faults, notice_memory_that_is_freed_too_early, .init = two_gpus) {
  static const fault_case fault = {
      free_too_early,
      cudaErrorIllegalAddress,
      {"Invalid memory of device 1: it was freed before cudaMemcpyPeerAsync of 4000 bytes was done",
       "queued at free_too_early in ", "test_device_faults.c:", "hint: cudaFree() waits for"}};
  expect_report(&fault);
}

static void read_far_memory(void) {
  devices_add(far_memory, far_memory, 1, N, NULL);
  cudaDeviceSynchronize();
}

Test(device_faults, fault_without_peer_access, .init = two_gpus) {
  static const fault_case fault = {
      read_far_memory,
      cudaErrorIllegalAddress,
      {"Invalid read at address 0x",
       " of an allocation of 4000 bytes of device 1, without peer access from device 0, where the "
       "kernel runs",
       "// <- add", "by thread (", "hint: call cudaDeviceEnablePeerAccess(1, 0)"}};
  far_memory = on_device(1, N, 0);
  OK(cudaSetDevice(0));
  expect_report(&fault);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  read_far_memory();
  OK(cudaSetDevice(1)); // this device goes on
  expect_all(far_memory, N, 1);
}

// The attribute of the owner's pool allows what cudaDeviceEnablePeerAccess does, and takes it back.
Test(device_faults, share_a_pool, .init = two_gpus) {
  const fault_case fault = {read_far_memory, cudaErrorIllegalAddress, {"without peer access"}};
  cudaMemPool_t pool;
  struct cudaMemAccessDesc who = {.location = {cudaMemLocationTypeDevice, 0},
                                  .flags = cudaMemAccessFlagsProtReadWrite};
  far_memory = on_device(1, N, 0);
  OK(cudaDeviceGetDefaultMemPool(&pool, 1));
  OK(cudaMemPoolSetAccess(pool, &who, 1));
  OK(cudaSetDevice(0));
  read_far_memory();
  OK(cudaSetDevice(1));
  expect_all(far_memory, N, 1);
  who.flags = cudaMemAccessFlagsProtNone;
  OK(cudaMemPoolSetAccess(pool, &who, 1));
  OK(cudaSetDevice(0));
  expect_report(&fault);
  who.location.id = 2;
  cr_expect_eq(cudaMemPoolSetAccess(pool, &who, 1), cudaErrorInvalidValue);
}

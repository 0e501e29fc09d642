// Tests the GPUs that the emulator imitates, by name, and the limits that they set to a launch.
#define _GNU_SOURCE
#include "emulator.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

// ---- The GPU ------------------------------------------------------------------------------------

Test(gpu, has_the_limits_of_the_named_one) {
  static const struct {
    const char *key, *name;
    int major, minor, multiprocessors;
    size_t opt_in, per_multiprocessor;
    int threads, blocks;
  } cases[] = {
      {"h200", "Emulated NVIDIA H200", 9, 0, 132, 232448, 233472, 2048, 32},
      {"a100", "Emulated NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 167936, 2048, 32},
      {"l4", "Emulated NVIDIA L4", 8, 9, 58, 101376, 102400, 1536, 24},
      {"t4", "Emulated Tesla T4", 7, 5, 40, 65536, 65536, 1024, 16},
      {"", "Emulated NVIDIA H200", 9, 0, 132, 232448, 233472, 2048, 32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("EMU_GPU", cases[i].key, 1);
    struct cudaDeviceProp p;
    cr_assert_eq(cudaGetDeviceProperties(&p, 0), cudaSuccess);
    cr_assert_str_eq(p.name, cases[i].name);
    cr_assert_eq(p.major * 10 + p.minor, cases[i].major * 10 + cases[i].minor, "%s", p.name);
    cr_assert_eq(p.multiProcessorCount, cases[i].multiprocessors, "%s", p.name);
    cr_assert_eq(p.sharedMemPerBlock, 49152, "%s", p.name);
    cr_assert_eq(p.sharedMemPerBlockOptin, cases[i].opt_in, "%s", p.name);
    cr_assert_eq(p.sharedMemPerMultiprocessor, cases[i].per_multiprocessor, "%s", p.name);
    cr_assert_eq(p.maxThreadsPerMultiProcessor, cases[i].threads, "%s", p.name);
    cr_assert_eq(p.maxBlocksPerMultiProcessor, cases[i].blocks, "%s", p.name);
    cr_assert_eq(p.warpSize, 32);
    const struct {
      enum cudaDeviceAttr attribute;
      long long value;
    } attributes[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)p.sharedMemPerBlockOptin},
    };
    for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
      int value = -1;
      cr_assert_eq(cudaDeviceGetAttribute(&value, attributes[k].attribute, 0), cudaSuccess);
      cr_assert_eq(value, attributes[k].value, "%s, attribute %d", p.name, attributes[k].attribute);
    }
  }
  int value;
  cr_assert_eq(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
  cr_assert_eq(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}

Test(gpu, has_as_many_multiprocessors_as_asked_for) {
  int value = -1;
  setenv("EMU_MULTIPROCESSORS", "3", 1);
  cr_assert_eq(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  cr_assert_eq(value, 3);
}

Test(gpu, has_as_large_a_cache_as_asked_for) {
  int value = -1;
  struct cudaDeviceProp p;
  setenv("EMU_L2_BYTES", "1234567", 1);
  cr_assert_eq(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0), cudaSuccess);
  cr_assert_eq(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  cr_assert_eq(value, 1234567);
  cr_assert_eq(p.l2CacheSize, 1234567);
}

Test(gpu, must_be_known, .exit_code = 2) {
  setenv("EMU_GPU", "voodoo2", 1);
  struct cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
}

Test(gpu, is_device_0) {
  int device = -1, count = -1, version = 0;
  cr_assert_eq(cudaGetDeviceCount(&count), cudaSuccess);
  cr_assert_eq(count, 1);
  cr_assert_eq(cudaSetDevice(0), cudaSuccess);
  cr_assert_eq(cudaSetDevice(1), cudaErrorInvalidDevice);
  cr_assert_eq(cudaGetDevice(&device), cudaSuccess);
  cr_assert_eq(device, 0);
  cr_assert_eq(cudaRuntimeGetVersion(&version), cudaSuccess);
  cr_assert_eq(version, 13000);
}

// ---- Launch limits ------------------------------------------------------------------------------

static void no_body(void *arguments) { (void)arguments; }
static void some_kernel(void) {}
static void other_kernel(void) {}

static cudaError_t launch_with_shared(void (*kernel)(void), size_t bytes) {
  const emulator_launch_request request = {.kernel = (const void *)(uintptr_t)kernel,
                                           .name = "kernel",
                                           .grid = {1, 1, 1},
                                           .block = {32, 1, 1},
                                           .dynamic_shared_bytes = bytes,
                                           .body = no_body};
  cudaGetLastError(); // what an earlier call left
  const cudaError_t error = emulator_launch(&request);
  cr_assert_eq(cudaGetLastError(), error);
  return error;
}

// Launches a grid of so many blocks in y, or in z.
static cudaError_t launch_grid(unsigned y, unsigned z) {
  const emulator_launch_request request = {.kernel = (const void *)(uintptr_t)some_kernel,
                                           .name = "kernel",
                                           .grid = {1, y, z},
                                           .block = {1, 1, 1},
                                           .body = no_body};
  const cudaError_t error = emulator_launch(&request);
  cudaGetLastError();
  return error;
}

Test(launch, the_limit_of_a_grid_can_be_less) {
  cr_expect_eq(emulator_grid_limit(), 65535);
  cr_expect_eq(launch_grid(65536, 1), cudaErrorInvalidValue);
  cr_expect_eq(launch_grid(1, 65536), cudaErrorInvalidValue);
  setenv("EMU_GRID_LIMIT", "7", 1);
  int value = 0;
  cr_expect_eq(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimZ, 0), cudaSuccess);
  cr_expect_eq(value, 7);
  cr_expect_eq(launch_grid(7, 7), cudaSuccess);
  cr_expect_eq(launch_grid(8, 1), cudaErrorInvalidValue);
  cr_expect_eq(launch_grid(1, 8), cudaErrorInvalidValue);
}

static cudaError_t opt_in(void (*kernel)(void), int bytes) {
  return cudaFuncSetAttribute((const void *)(uintptr_t)kernel,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

Test(launch, shared_memory_is_opted_in_to_by_kernel) {
  setenv("EMU_GPU", "l4", 1);
  cr_assert_eq(launch_with_shared(some_kernel, 49152), cudaSuccess);
  cr_assert_eq(launch_with_shared(some_kernel, 49153), cudaErrorInvalidValue);
  cr_assert_eq(opt_in(some_kernel, 101377), cudaErrorInvalidValue);
  cr_assert_eq(opt_in(some_kernel, 60000), cudaSuccess);
  cr_assert_eq(launch_with_shared(some_kernel, 60000), cudaSuccess);
  cr_assert_eq(launch_with_shared(some_kernel, 60001), cudaErrorInvalidValue);
  cr_assert_eq(opt_in(some_kernel, 101376), cudaSuccess);
  cr_assert_eq(launch_with_shared(some_kernel, 101376), cudaSuccess);
  cr_assert_eq(launch_with_shared(other_kernel, 49153), cudaErrorInvalidValue);
  struct cudaFuncAttributes attributes;
  const void *kernel = (const void *)(uintptr_t)some_kernel;
  cr_assert_eq(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100),
               cudaSuccess);
  cr_assert_eq(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
               cudaErrorInvalidValue);
  cr_assert_eq(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  cr_assert_eq(attributes.maxDynamicSharedSizeBytes, 101376);
  cr_assert_eq(attributes.preferredShmemCarveout, 100);
  cr_assert_eq(attributes.binaryVersion, 89);
}

Test(launch, occupancy_by_threads_and_shared_memory) {
  static const struct {
    const char *gpu;
    int threads;
    size_t shared;
    int blocks;
  } cases[] = {
      {"h200", 128, 0, 16},        {"h200", 32, 0, 32},
      {"h200", 1024, 0, 2},        {"h200", 33, 0, 32},
      {"h200", 96, 0, 21},         {"h200", 100, 0, 16},
      {"h200", 128, 48 * 1024, 4}, {"h200", 64, 10000, 20},
      {"l4", 128, 0, 12},          {"l4", 1024, 0, 1},
      {"l4", 32, 0, 24},           {"l4", 128, 48 * 1024, 2},
      {"h200", 2000, 0, 0},        {"h200", 32, 50000, 0}, // not opted in to
      {"t4", 128, 0, 8},           {"t4", 32, 0, 16},
      {"t4", 32, 32 * 1024, 2}, // nothing is reserved
      {"t4", 32, 4097, 15},     // of units of 256 bytes
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("EMU_GPU", cases[i].gpu, 1);
    int blocks = -1;
    cr_assert_eq(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks,
                                                               (const void *)(uintptr_t)some_kernel,
                                                               cases[i].threads, cases[i].shared),
                 cudaSuccess);
    cr_assert_eq(blocks, cases[i].blocks, "%s, %d threads, %zu bytes: %d blocks, not %d",
                 cases[i].gpu, cases[i].threads, cases[i].shared, blocks, cases[i].blocks);
  }
}

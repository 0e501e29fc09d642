// For the tests of Hopper's instructions: kernels that other GPUs compile as empty ones, and do not run.
#ifndef FOR_HOPPER_H
#define FOR_HOPPER_H

#include "device_array.h"
#include "semantics.h"

#include "hopper.cuh"

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KERNEL_FOR_HOPPER(...)                                                                     \
  {}
#else
#define KERNEL_FOR_HOPPER(...) __VA_ARGS__
#endif

static bool device_is_hopper() {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major == 9;
}

#endif

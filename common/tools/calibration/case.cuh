// A calibration kernel with its launch and the answers on paper; and what kernels share.
#ifndef CASE_CUH
#define CASE_CUH

#include "calibration/calibration.h"

#include <cuda_runtime.h>

static inline __device__ int global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct requests {
  uint64_t count = 0;
  uint64_t transfers = 0; // sectors or wavefronts
};

struct kernel_case {
  const char *name;
  void (*kernel)(const float *in, float *out);
  int blocks;
  dim3 threads;
  requests global_loads, global_stores;
  requests shared_loads = {};
  requests shared_stores = {};
  uint64_t block_barriers = 0;
  uint64_t tensor_core_operations = 0;
  uint64_t async_copy_bytes = 0;
  uint64_t divergent_branches = 0;
};

static const requests NONE = {};

// The cases of each file, ended by one without a name.
extern const kernel_case global_cases[], shared_cases[], tensor_cases[], divergence_cases[];

#endif

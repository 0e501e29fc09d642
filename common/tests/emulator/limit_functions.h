// A loop that does not end, in a function that another function of this header calls.
#ifndef LIMIT_FUNCTIONS_H
#define LIMIT_FUNCTIONS_H

#include <cuda_runtime.h>

static __device__ __forceinline__ void wait_for_flag(volatile int *flag) {
  while (*flag == 0) {
  }
}

static __device__ __forceinline__ void wait_for_flags(volatile int *flags) {
  for (int i = 0; i < 2; i++) wait_for_flag(&flags[i]);
}

static __device__ __noinline__ void wait_out_of_line(volatile int *flag) {
  while (*flag == 0) {
  }
}

#endif

// Device memory for the kernels with a fault.
#ifndef SANITIZE_DEVICE_FLOATS_H
#define SANITIZE_DEVICE_FLOATS_H

#include <cuda_runtime.h>

// Returns zeros, which the program never frees.
static float *device_floats(int count) {
  float *data;
  cudaMalloc(&data, count * sizeof(float));
  cudaMemset(data, 0, count * sizeof(float));
  return data;
}

#endif

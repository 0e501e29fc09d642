#include "healthy.h"
#include <cuda_runtime.h>

__global__ void healthy_kernel(int *out) { *out = 1; }

bool healthy_launch(void) {
  int *out = nullptr, value = 0;
  cudaMalloc(&out, sizeof value);
  healthy_kernel<<<1, 1>>>(out);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return value == 1;
}

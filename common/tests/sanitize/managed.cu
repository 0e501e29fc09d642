// Managed memory, which the host writes without telling the sanitizer.
#include "device_floats.h"
#include "faults.h"

#include <cuda_runtime.h>
#include <string.h>

__global__ void add_kernel(int *sum) {
  atomicAdd(sum, 1); // <- managed sum
}
void managed_sum(bool broken) {
  int *sum;
  cudaMallocManaged(&sum, sizeof *sum);
  if (!broken) *sum = -1;
  add_kernel<<<1, 32>>>(sum);
}

// 255 is a byte of the NaN that memory begins with.
__global__ void bytes_kernel(const unsigned char *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x]; // <- managed byte
}
void managed_bytes(bool broken) {
  unsigned char *in;
  cudaMallocManaged(&in, 30);
  if (!broken) memset(in, 255, 30);
  bytes_kernel<<<1, 30>>>(in, device_floats(32));
}

__global__ void words_kernel(const int *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x]; // <- copied word
}
void managed_copied(bool broken) {
  int *from, *to;
  cudaMallocManaged(&from, 32 * sizeof *from);
  cudaMalloc(&to, 32 * sizeof *to);
  memset(from, 255, 32 * sizeof *from);
  cudaMemcpy(to, from, (broken ? 31 : 32) * sizeof *from, cudaMemcpyDefault);
  words_kernel<<<1, 32>>>(to, device_floats(32));
}

// Kernels of the test of the cold cache.
#include "cold_cache.h"

__global__ void follow_kernel(const unsigned *places, unsigned steps, unsigned *end) {
  unsigned place = 0;
  for (unsigned i = 0; i < steps; i++) place = places[place];
  *end = place;
}

cudaError_t follow(const unsigned *places, unsigned steps, unsigned *end, cudaStream_t stream) {
  follow_kernel<<<1, 1, 0, stream>>>(places, steps, end);
  return cudaGetLastError();
}

__global__ void read_kernel(const unsigned *memory, size_t count, unsigned *end) {
  const size_t threads = (size_t)gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    sum |= memory[i];
  }
  if (sum == 0xffffffffu) *end = sum;
}

cudaError_t read_all(const unsigned *memory, size_t bytes, unsigned *end, cudaStream_t stream) {
  read_kernel<<<1024, 256, 0, stream>>>(memory, bytes / sizeof *memory, end);
  return cudaGetLastError();
}

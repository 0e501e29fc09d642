// A kernel that takes as long as it is told to.
#include "known_duration.h"

__device__ static unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin_kernel(unsigned long long nanoseconds) {
  const unsigned long long begin = nanoseconds_now();
  while (nanoseconds_now() - begin < nanoseconds) {
  }
}

cudaError_t spin(unsigned microseconds, cudaStream_t stream) {
  spin_kernel<<<1, 1, 0, stream>>>(1000ull * microseconds);
  return cudaGetLastError();
}

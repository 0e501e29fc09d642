// One kernel here waits for a given time, and the other one ends at once.
#include "device/device.h"

__global__ void delay_kernel(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

cudaError_t device_delay(long long clocks, cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>(clocks);
  return cudaGetLastError();
}

__global__ void empty_kernel() {}

cudaError_t device_empty(cudaStream_t stream) {
  empty_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

// A kernel that does nothing for a while.
#include "device/device.h"

static constexpr long long CLOCKS = 50000; // 25 microseconds at 2 GHz

__global__ void delay_kernel() {
  const long long begin = clock64();
  while (clock64() - begin < CLOCKS) {
  }
}

cudaError_t device_delay(cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

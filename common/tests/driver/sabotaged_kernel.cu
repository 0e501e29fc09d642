// A kernel that spoils more than a result: after a write to an address that is none, the device does nothing any more.
#include <cuda_runtime.h>

__global__ static void write_nowhere(float *nowhere) { *nowhere = 1; }

extern "C" cudaError_t sabotaged_kernel(cudaStream_t stream) {
  write_nowhere<<<1, 1, 0, stream>>>((float *)64);
  return cudaGetLastError();
}

// A kernel behind which nothing can be launched any more, because it writes to an address that is none.
#include <cuda_runtime.h>

__global__ static void write_nowhere(float *nowhere) { *nowhere = 1; }

extern "C" cudaError_t lose_the_device(cudaStream_t stream) {
  write_nowhere<<<1, 1, 0, stream>>>((float *)64);
  return cudaGetLastError();
}

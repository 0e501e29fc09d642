// Kernels for the tests of several devices.
#include <cuda_runtime.h>

__global__ void add_kernel(const float *in, float *out, float more, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + more; // <- add
}

extern "C" void devices_add(const float *in, float *out, float more, int n, cudaStream_t stream) {
  add_kernel<<<(n + 63) / 64, 64, 0, stream>>>(in, out, more, n);
}

// Waits for each slice until its flag is set.
__global__ void polling_kernel(const float *slices, const int *flags, float *out, int slice) {
  for (int i = 0; i < 3; i++) {
    if (threadIdx.x == 0) {
      while (atomicAdd((int *)&flags[i], 0) == 0) __nanosleep(100);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < slice; k += blockDim.x)
      out[i * slice + k] = slices[i * slice + k];
  }
}

extern "C" void devices_poll(const float *slices, const int *flags, float *out, int slice,
                             cudaStream_t stream) {
  polling_kernel<<<1, 64, 0, stream>>>(slices, flags, out, slice);
}

__global__ void shared_kernel() {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 0;
}

extern "C" cudaError_t devices_allow_shared(int bytes) {
  return cudaFuncSetAttribute(shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

extern "C" cudaError_t devices_launch_shared(size_t bytes) {
  shared_kernel<<<1, 1, bytes>>>();
  return cudaGetLastError();
}

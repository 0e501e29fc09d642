// Divides as divisor.cuh does, for test_divisor.c.
#include "divisor.cuh"

static __global__ void divide_kernel(const int *n, int count, divisor d, long_divisor wide_d,
                                     int *results) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const long long wide = n[i] * 2LL + 1;
    results[4 * i] = n[i] / d;
    results[4 * i + 1] = n[i] % d;
    results[4 * i + 2] = (int)(wide / wide_d / 2);
    results[4 * i + 3] = (int)(wide % wide_d);
  }
}

// For each of n [count], in device memory: n / number and n % number, then w / number / 2 and w % number, where w is 2 n
// + 1 as a long long. The remainder w % number is an int because number is one.
extern "C" cudaError_t divide(const int *n, int count, int number, int *results) {
  divide_kernel<<<1, 128>>>(n, count, divisor::of(number), long_divisor::of(number), results);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

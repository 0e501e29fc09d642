// Stores of objects that a call returns, and loads of those that a call is given, which g++ does not tell of. Lines
// that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct row {
  float x[6];
};
__attribute__((noinline)) __device__ row row_of(float x) { return {{x, x, x, x, x, x + 2}}; }
__device__ row short_row_of(float x) { return {{x, x, x, x, x, x + 2}}; }
__device__ float last_of(row of) { return of.x[5]; }
__device__ half twice(half x) { return __hadd(x, x); }

// A store of a struct is not seen where the function stays one of its own. Whether there was one shows in what the
// memory holds, zeros as well.
__global__ void returned_structs_kernel(float *out, bool right) {
  __shared__ row rows[64];
  rows[threadIdx.x] = row_of(threadIdx.x);
  if (right) __syncthreads();
  const row &other = rows[63 - threadIdx.x];
  out[threadIdx.x] = other.x[0] + other.x[5]; // <- returned struct
}
void returned_structs(bool broken) {
  returned_structs_kernel<<<1, 64>>>(device_floats(64), !broken);
}

// A short function becomes part of the kernel.
__global__ void short_functions_kernel(float *out, bool right) {
  __shared__ row rows[64];
  rows[threadIdx.x] = short_row_of(threadIdx.x); // <- short store
  if (right) __syncthreads();
  out[threadIdx.x] = last_of(rows[63 - threadIdx.x]); // <- short read
}
void short_functions(bool broken) { short_functions_kernel<<<1, 64>>>(device_floats(64), !broken); }

__global__ void passed_halves_kernel(float *out, bool right) {
  __shared__ half tile[64];
  __shared__ half2 pairs[64];
  tile[threadIdx.x] = __float2half(threadIdx.x);      // <- passed store
  pairs[threadIdx.x] = __float2half2_rn(threadIdx.x); // <- passed pair's store
  if (right) __syncthreads();
  const int from = 63 - threadIdx.x;
  half sum = __hadd(tile[from], __float2half(1));                    // <- passed to a sum
  sum = __hmax(sum, __hfma(sum, tile[from], tile[from]));            // <- passed to a product
  if (__hlt(__shfl_sync(~0u, tile[from], 0), sum)) sum = 0;          // <- passed to a shuffle
  const half2 both = __hfma2(pairs[from], pairs[from], pairs[from]); // <- passed pairs
  out[threadIdx.x] = __half2float(sum) + __low2float(both);
}
void passed_halves(bool broken) { passed_halves_kernel<<<1, 64>>>(device_floats(64), !broken); }

// Numbers of 16 bits, which are objects as well.
__global__ void returned_halves_kernel(float *out, bool right) {
  __shared__ half sums[64], tile[64];
  __shared__ half2 pairs[64];
  const half x = __float2half(threadIdx.x);
  sums[threadIdx.x] = x + x;
  pairs[threadIdx.x] = __floats2half2_rn(threadIdx.x, 1);
  __syncthreads();
  const half y = sums[63 - threadIdx.x] + pairs[63 - threadIdx.x].y;
  tile[threadIdx.x] = twice(y); // <- returned half
  if (right) __syncthreads();
  out[threadIdx.x] = __half2float(tile[63 - threadIdx.x]); // <- returned read
}
void returned_halves(bool broken) { returned_halves_kernel<<<1, 64>>>(device_floats(64), !broken); }

// Halves can be copied as part of a union, as they can with nvcc.
union four_halves {
  half numbers[4];
  unsigned words[2];
};
__global__ void united_halves_kernel(float *out, bool right) {
  __shared__ four_halves tile[64];
  four_halves own = {}, copy;
  own.numbers[3] = __float2half(threadIdx.x);
  copy = own;
  tile[threadIdx.x] = copy; // <- united store
  if (right) __syncthreads();
  out[threadIdx.x] = __half2float(tile[63 - threadIdx.x].numbers[3]); // <- united read
}
void united_halves(bool broken) { united_halves_kernel<<<1, 64>>>(device_floats(64), !broken); }

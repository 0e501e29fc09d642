// Stores of objects that a call returns, which g++ does not tell of. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct row {
  float x[6];
};
__device__ row row_of(float x) { return {{x, x, x, x, x, x + 2}}; }
__device__ half twice(half x) { return __hadd(x, x); }

// A store of a struct is not seen. Whether one was there shows in what memory holds.
__global__ void returned_structs_kernel(float *out, bool right) {
  __shared__ row rows[64];
  rows[threadIdx.x] = row_of(threadIdx.x);
  if (right) __syncthreads();
  out[threadIdx.x] = rows[63 - threadIdx.x].x[5]; // <- returned struct
}
void returned_structs(bool broken) {
  returned_structs_kernel<<<1, 64>>>(device_floats(64), !broken);
}

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

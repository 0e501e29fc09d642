// Vectors in unions with their elements, which published kernels have to reach an element by its number.
#include "feature.h"

#include <cuda_fp16.h>

union pair {
  float2 vector;
  float elements[2];
};
union eight_halves {
  uint4 vector;
  half elements[8];
};
// A pair of halves has a copy constructor with nvcc, too, so this union is never copied.
union four_pairs {
  int4 vector;
  __half2 elements[4];
};
struct four_and_number {
  union {
    float4 vector;
    float elements[4];
  };
  int number;
};

__device__ pair sum_of(pair a, const pair &b) {
  pair sum = a;
  for (int i = 0; i < 2; i++) sum.elements[i] += b.elements[i];
  return sum;
}

__global__ void reach_elements(float *out, const uint4 *halves, pair one, four_and_number four) {
  __shared__ union {
    float2 vector;
    float elements[2];
  } first;
  __shared__ eight_halves tile[32];
  __shared__ four_pairs pairs[32];
  if (threadIdx.x == 0) first.vector = make_float2(3, 4);
  const eight_halves own = {halves[threadIdx.x]};
  tile[threadIdx.x] = own;
  pairs[threadIdx.x].vector = make_int4(0, 0, 0, halves[threadIdx.x].x);
  __syncthreads();
  eight_halves other;
  other = tile[31 - threadIdx.x];
  const pair sum = sum_of(one, {make_float2(first.elements[1], first.elements[0])});
  const four_and_number copy = four;
  const auto [x, y] = sum.vector;
  out[threadIdx.x] = x + 10 * y + 100 * __half2float(other.elements[7]) +
                     1000 * __high2float(pairs[31 - threadIdx.x].elements[3]) +
                     10000 * (copy.elements[2] + copy.number);
}

FEATURE(vectors_in_unions, "unions of float2, uint4 and the like with arrays of their elements",
        "") {
  float *out;
  uint4 *halves;
  CHECK(cudaMallocManaged(&out, 32 * sizeof(float)));
  CHECK(cudaMallocManaged(&halves, 32 * sizeof(uint4)));
  for (int i = 0; i < 32; i++) halves[i] = make_uint4(0x40000000, 0, 0, 0x3c000000); // 2 and 1
  pair one;
  one.vector = make_float2(1, 2);
  four_and_number four;
  four.vector = make_float4(0, 0, 1, 0), four.number = 2;
  reach_elements<<<1, 32>>>(out, halves, one, four);
  CHECK(cudaDeviceSynchronize());
  return out[0] == 5 + 50 + 100 + 2000 + 30000 && out[31] == out[0];
}

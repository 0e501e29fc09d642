// Kernels for the rate of the float32 units and of the exp2 unit. Each thread computes several independent
// chains, so that the next instruction is always ready.
#include "ceilings/kernels.h"
#include <cuda_runtime.h>

__global__ void fma_kernel(const float *factors, const float *start, float *out) {
  const unsigned threads = gridDim.x * ARITHMETIC_THREADS;
  const unsigned thread = blockIdx.x * ARITHMETIC_THREADS + threadIdx.x;
  const float a = factors[thread];
  const float b = factors[threads + thread];
  float x[CHAINS];
  for (int i = 0; i < CHAINS; i++) x[i] = start[(size_t)i * threads + thread];
#pragma unroll 16
  for (int round = 0; round < FMA_ROUNDS; round++) {
#pragma unroll
    for (int i = 0; i < CHAINS; i++) x[i] = fmaf(x[i], a, b);
  }
  for (int i = 0; i < CHAINS; i++) out[(size_t)i * threads + thread] = x[i];
}

// PTX ISA, "ex2": one instruction of the multi-function unit. Its sign change of x is free.
__device__ __forceinline__ float exp2_of_negative(float x) {
  float y;
  asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(-x));
  return y;
}

__global__ void exp2_kernel(const float *start, float *out) {
  const unsigned threads = gridDim.x * ARITHMETIC_THREADS;
  const unsigned thread = blockIdx.x * ARITHMETIC_THREADS + threadIdx.x;
  float x[CHAINS];
  for (int i = 0; i < CHAINS; i++) x[i] = start[(size_t)i * threads + thread];
#pragma unroll 16
  for (int round = 0; round < EXP2_ROUNDS; round++) {
#pragma unroll
    for (int i = 0; i < CHAINS; i++) x[i] = exp2_of_negative(x[i]);
  }
  for (int i = 0; i < CHAINS; i++) out[(size_t)i * threads + thread] = x[i];
}

cudaError_t fma_launch(const float *factors, const float *start, float *out, unsigned blocks,
                       cudaStream_t stream) {
  fma_kernel<<<blocks, ARITHMETIC_THREADS, 0, stream>>>(factors, start, out);
  return cudaGetLastError();
}

cudaError_t exp2_launch(const float *start, float *out, unsigned blocks, cudaStream_t stream) {
  exp2_kernel<<<blocks, ARITHMETIC_THREADS, 0, stream>>>(start, out);
  return cudaGetLastError();
}

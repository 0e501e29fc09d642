// Measures the rate of the tensor cores with mma.sync. All operands stay in registers.
#include "ceilings/kernels.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// d [16][8] += a [16][16] b [16][8]. PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point
// type", says which element each lane holds: with group = lane / 4 and pair = 2 * (lane % 4),
//   a[0] (group, pair)  a[1] (group + 8, pair)  a[2] (group, pair + 8)  a[3] (group + 8, pair + 8)
//   b[0] (pair, group)  b[1] (pair + 8, group)
//   d[0], d[1] (group, pair)  d[2], d[3] (group + 8, pair)
// where a register of a holds two neighbours in a row, one of b two neighbours in a column.
__device__ __forceinline__ void mma(half, float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void mma(__nv_bfloat16, float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned two(const unsigned short *first, int stride) {
  return first[0] | (unsigned)first[stride] << 16;
}

template <typename Element>
__launch_bounds__(32 * MMA_WARPS) __global__
    void mma_kernel(const unsigned short *A, const unsigned short *B, float *D) {
  const int group = threadIdx.x % 32 / 4;
  const int pair = 2 * (threadIdx.x % 4);
  unsigned a[MMA_TILES][4];
  unsigned b[MMA_TILES][2];
  float d[MMA_TILES][MMA_TILES][4] = {};
#pragma unroll
  for (int i = 0; i < MMA_TILES; i++) {
    for (int r = 0; r < 4; r++)
      a[i][r] = two(&A[(i * 16 + group + r % 2 * 8) * 16 + pair + r / 2 * 8], 1);
    for (int r = 0; r < 2; r++) b[i][r] = two(&B[(i * 16 + pair + r * 8) * 8 + group], 8);
  }

#pragma unroll 1
  for (int round = 0; round < MMA_ROUNDS; round++) {
#pragma unroll
    for (int i = 0; i < MMA_TILES; i++) {
#pragma unroll
      for (int j = 0; j < MMA_TILES; j++) mma(Element(), d[i][j], a[i], b[j]);
    }
  }

  const size_t warp = (size_t)blockIdx.x * MMA_WARPS + threadIdx.x / 32;
  float *D_warp = D + warp * MMA_TILES * MMA_TILES * 16 * 8;
#pragma unroll
  for (int i = 0; i < MMA_TILES; i++) {
#pragma unroll
    for (int j = 0; j < MMA_TILES; j++) {
      float *tile = D_warp + (i * MMA_TILES + j) * 16 * 8;
      for (int r = 0; r < 4; r++) tile[(group + r / 2 * 8) * 8 + pair + r % 2] = d[i][j][r];
    }
  }
}

cudaError_t mma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                       unsigned blocks, cudaStream_t stream) {
  const auto kernel = dtype == ATTENTION_FP16 ? mma_kernel<half> : mma_kernel<__nv_bfloat16>;
  kernel<<<blocks, 32 * MMA_WARPS, 0, stream>>>((const unsigned short *)A,
                                                (const unsigned short *)B, D);
  return cudaGetLastError();
}

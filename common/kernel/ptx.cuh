// One named function for each PTX instruction that CUDA C++ has no function for. The numbers in the comments
// are sections of the PTX ISA, release 9.0.
#ifndef PTX_CUH
#define PTX_CUH

#include "timeline.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef __CUDACC__
#include "ptx_functions.h" // the emulator's: the same functions, without PTX
#else

// Returns the address in shared memory that the instructions take, which is an offset in the block's own
// window.
__device__ __forceinline__ unsigned shared_address(const void *pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

// Returns 2^x with an error of at most 2 units in the last place; results below 2^-126 are 0. 9.7.3.21,
// "ex2".
__device__ __forceinline__ float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Loads four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8 of matrix l / 8, 16
// bytes on a 16-byte boundary, and receives of each matrix the elements 2 (l % 4) and 2 (l % 4) + 1 of row
// l / 4. 9.7.14.5.15, "ldmatrix".
__device__ __forceinline__ void load_matrices(unsigned (&fragments)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
               : "r"(shared_address(row))
               : "memory");
}

// Does the same with the transposed matrices. A lane receives rows 2 (l % 4) and 2 (l % 4) + 1 of column l /
// 4.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&fragments)[4],
                                                         const void *row TIMELINE_SITE) {
  TIMELINE_MMA(OUTPUT)
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
               : "r"(shared_address(row))
               : "memory");
}

// Computes D [16, 8] += A [16, 16] B [16, 8], a warp's product on the tensor cores, summed in float32. Each
// register of A and B holds two consecutive elements. With row = lane / 4 and column = 2 (lane % 4), a lane
// holds:
//   a[0..3]  A at (row, column), (row + 8, column), (row, column + 8), (row + 8, column + 8)
//   b[0..1]  B in column lane / 4, at rows `column` and `column` + 8, each with the row below
//   d[0..3]  D at (row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)
// 9.7.14.5.8, "Matrix Fragments for mma.m16n8k16 with floating point type".
template <typename Element>
__device__ __forceinline__ void multiply_fragments(float *d, const unsigned *a, const unsigned *b);
template <>
__device__ __forceinline__ void multiply_fragments<half>(float *d, const unsigned *a,
                                                         const unsigned *b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ __forceinline__ void multiply_fragments<__nv_bfloat16>(float *d, const unsigned *a,
                                                                  const unsigned *b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Adds to a number in global memory, as atomicAdd does, and returns what it was before. It acquires: loads behind it
// see what other threads had made visible before they added. 9.7.13.5, "atom".
__device__ __forceinline__ unsigned long long add_and_acquire(unsigned long long *to,
                                                              unsigned long long number) {
  unsigned long long before;
  asm volatile("atom.acquire.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(to), "l"(number)
               : "memory");
  return before;
}

#endif // __CUDACC__

#endif

// Measures the rate of the tensor cores with wgmma, on sm_90a. A warpgroup of 128 threads multiplies tiles in
// shared memory, and the hardware fetches them by itself.
#include "ceilings/kernels.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static constexpr int GROUP_THREADS = 128;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

static constexpr int ROWS = 64;               // of A and D, of one warpgroup
static constexpr int COLUMNS = 256;           // of D: rows of B
static constexpr int REGISTERS = COLUMNS / 2; // of D, in one thread
static constexpr int REPEATS = 4;             // of the product, between two waits

// D's registers as the instruction lists them, and as asm operands.
#define REGISTER_LIST                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "               \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "               \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "               \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "   \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define OPERANDS_4(i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define OPERANDS_16(i) OPERANDS_4(i), OPERANDS_4(i + 4), OPERANDS_4(i + 8), OPERANDS_4(i + 12)
#define OPERANDS_64(i) OPERANDS_16(i), OPERANDS_16(i + 16), OPERANDS_16(i + 32), OPERANDS_16(i + 48)

// d [64][256] += A [64][16] B [256][16]^T. PTX ISA, "wgmma.mma_async": the numbers after the descriptors
// say to add to d, to negate neither operand and to transpose neither.
#define WGMMA(types)                                                                               \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32." types " {" REGISTER_LIST             \
               "}, %128, %129, 1, 1, 1, 0, 0;"                                                     \
               : OPERANDS_64(0), OPERANDS_64(64)                                                   \
               : "l"(A), "l"(B))

__device__ __forceinline__ void wgmma(half, float (&d)[REGISTERS], uint64_t A, uint64_t B) {
  WGMMA("f16.f16");
}

__device__ __forceinline__ void wgmma(__nv_bfloat16, float (&d)[REGISTERS], uint64_t A,
                                      uint64_t B) {
  WGMMA("bf16.bf16");
}

// Rows of 64 elements fill the 128 bytes of all banks once. So that eight rows of a column do not meet
// in one bank, the 16-byte pieces of row r stand in the order piece ^ (r % 8): the layout that PTX ISA,
// "Asynchronous Warpgroup Level Matrix Shared Memory Layout", calls 128-byte swizzling.
__device__ __forceinline__ void load_swizzled(uint4 *tile_smem, const uint4 *tile, int rows) {
  constexpr int PIECES = WGMMA_DEPTH / 8; // of a row
  for (int i = threadIdx.x; i < rows * PIECES; i += blockDim.x) {
    const int row = i / PIECES;
    tile_smem[row * PIECES + (i % PIECES ^ row % 8)] = tile[i];
  }
}

// Makes the description of a tile that wgmma takes (PTX ISA, "Matrix Descriptor"). It holds the address in
// units of 16 bytes, the distance of two groups of eight rows in the same units, and 1 at bit 62 for the
// swizzle. The leading offset, at bit 16, is not used in this layout.
__device__ __forceinline__ uint64_t descriptor(const void *tile_smem) {
  const uint64_t address = __cvta_generic_to_shared(tile_smem);
  const uint64_t group_bytes = 8 * 2 * WGMMA_DEPTH;
  return address >> 4 | 1ull << 16 | group_bytes >> 4 << 32 | 1ull << 62;
}

#endif

template <typename Element>
__launch_bounds__(WGMMA_GROUPS *GROUP_THREADS) __global__
    void wgmma_kernel(const uint4 *A, const uint4 *B, float *D) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int ROW_PIECES = WGMMA_DEPTH / 8;
  // The pattern repeats after 1024 bytes, and the hardware takes it from the address.
  __shared__ __align__(1024) uint4 A_smem[WGMMA_GROUPS][ROWS * ROW_PIECES];
  __shared__ __align__(1024) uint4 B_smem[COLUMNS * ROW_PIECES];
  const int group = threadIdx.x / GROUP_THREADS;
  for (int g = 0; g < WGMMA_GROUPS; g++) load_swizzled(A_smem[g], A + g * ROWS * ROW_PIECES, ROWS);
  load_swizzled(B_smem, B, COLUMNS);
  // This makes the writes of the threads visible to the hardware that fetches tiles.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();

  const uint64_t A_tile = descriptor(A_smem[group]);
  const uint64_t B_tile = descriptor(B_smem);
  float d[REGISTERS];
#pragma unroll
  for (int i = 0; i < REGISTERS; i++) d[i] = 0.0f;
#pragma unroll 1
  for (int round = 0; round < WGMMA_ROUNDS; round += REPEATS) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int repeat = 0; repeat < REPEATS; repeat++) {
#pragma unroll
      for (int k = 0; k < WGMMA_DEPTH / 16; k++) // 16 elements are two units of 16 bytes
        wgmma(Element(), d, A_tile + 2 * k, B_tile + 2 * k);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }

  // PTX ISA, "wgmma: register fragment of D": a warp holds 16 rows, in each of its 32
  // tiles of 8 columns as mma.m16n8k16 does.
  const int row = threadIdx.x % GROUP_THREADS / 32 * 16 + threadIdx.x % 32 / 4;
  float *D_group = D + ((size_t)blockIdx.x * WGMMA_GROUPS + group) * ROWS * COLUMNS;
#pragma unroll
  for (int i = 0; i < REGISTERS; i++) {
    const int column = i / 4 * 8 + 2 * (threadIdx.x % 4) + i % 2;
    D_group[(row + i % 4 / 2 * 8) * COLUMNS + column] = d[i];
  }
#endif
}

cudaError_t wgmma_launch(attention_dtype dtype, const void *A, const void *B, float *D,
                         unsigned blocks, cudaStream_t stream) {
  const auto kernel = dtype == ATTENTION_FP16 ? wgmma_kernel<half> : wgmma_kernel<__nv_bfloat16>;
  kernel<<<blocks, WGMMA_GROUPS * GROUP_THREADS, 0, stream>>>((const uint4 *)A, (const uint4 *)B,
                                                              D);
  return cudaGetLastError();
}

// Measures the bandwidth of the memory by a copy in pieces of 16 bytes, the largest that one thread
// can load at once.
#include "ceilings/kernels.h"
#include <cuda_runtime.h>

static constexpr int THREADS = 256;
static constexpr int PIECES = 4; // of a thread, all on their way before the first is written
static_assert(COPY_BLOCK_BYTES == THREADS * PIECES * sizeof(uint4), "what a block copies");

// Returns where piece number `i` of this thread lies. Neighbouring lanes of a warp take
// neighbouring pieces.
__device__ __forceinline__ size_t piece_index(int i) {
  return ((size_t)blockIdx.x * PIECES + i) * THREADS + threadIdx.x;
}

__global__ void copy_kernel(const uint4 *source, uint4 *target) {
  uint4 pieces[PIECES];
#pragma unroll
  for (int i = 0; i < PIECES; i++) pieces[i] = source[piece_index(i)];
#pragma unroll
  for (int i = 0; i < PIECES; i++) target[piece_index(i)] = pieces[i];
}

// A product with an odd number spreads the bits of the place, so that no two pieces are equal.
__device__ __forceinline__ uint4 expected_piece(size_t index) {
  const unsigned long long bits = (index + 1) * 0x9e3779b97f4a7c15ull;
  return make_uint4((unsigned)index, (unsigned)bits, (unsigned)(bits >> 32), (unsigned)~index);
}

__global__ void fill_kernel(uint4 *memory) {
  for (int i = 0; i < PIECES; i++) memory[piece_index(i)] = expected_piece(piece_index(i));
}

__global__ void count_wrong_kernel(const uint4 *memory, unsigned long long *wrong) {
  for (int i = 0; i < PIECES; i++) {
    const uint4 expected = expected_piece(piece_index(i));
    const uint4 got = memory[piece_index(i)];
    if (got.x != expected.x || got.y != expected.y || got.z != expected.z || got.w != expected.w)
      atomicAdd(wrong, 1ull);
  }
}

static unsigned blocks(size_t bytes) { return (unsigned)(bytes / COPY_BLOCK_BYTES); }

cudaError_t copy_launch(const void *source, void *target, size_t bytes, cudaStream_t stream) {
  copy_kernel<<<blocks(bytes), THREADS, 0, stream>>>((const uint4 *)source, (uint4 *)target);
  return cudaGetLastError();
}

cudaError_t copy_fill(void *memory, size_t bytes, cudaStream_t stream) {
  fill_kernel<<<blocks(bytes), THREADS, 0, stream>>>((uint4 *)memory);
  return cudaGetLastError();
}

cudaError_t copy_count_wrong(const void *memory, size_t bytes, unsigned long long *wrong,
                             cudaStream_t stream) {
  count_wrong_kernel<<<blocks(bytes), THREADS, 0, stream>>>((const uint4 *)memory, wrong);
  return cudaGetLastError();
}

// Reads memory with four loads of 16 bytes of each thread on their way at once.
#include "timing/reading.h"

static constexpr int THREADS = 256;
static constexpr int PIECES = 4; // of a thread, of 16 bytes
static_assert(READING_BLOCK_BYTES == THREADS * PIECES * sizeof(uint4), "what a block reads");

// Each block stores the exclusive or of all its words, so that the compiler can leave no load out. `count` is the
// number of pieces of a source; the second source is read by the blocks of blockIdx.y = 1.
__global__ void reading_kernel(const uint4 *first, const uint4 *second, size_t count,
                               unsigned *mixed) {
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();

  const uint4 *source = blockIdx.y == 0 ? first : second;
  const size_t own = (size_t)blockIdx.x * PIECES * THREADS + threadIdx.x;
  uint4 pieces[PIECES] = {};
#pragma unroll
  for (int i = 0; i < PIECES; i++)
    if (own + i * THREADS < count) pieces[i] = source[own + i * THREADS];

  unsigned of_thread = 0;
#pragma unroll
  for (int i = 0; i < PIECES; i++)
    of_thread ^= pieces[i].x ^ pieces[i].y ^ pieces[i].z ^ pieces[i].w;
  const unsigned of_warp = __reduce_xor_sync(0xffffffff, of_thread);
  if (threadIdx.x % 32 == 0) atomicXor(&of_block, of_warp);
  __syncthreads();
  if (threadIdx.x == 0) mixed[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = of_block;
}

size_t reading_blocks(size_t bytes) {
  return (bytes + READING_BLOCK_BYTES - 1) / READING_BLOCK_BYTES;
}

cudaError_t reading_launch(const void *first, const void *second, size_t bytes, unsigned *mixed,
                           cudaStream_t stream) {
  const dim3 grid((unsigned)reading_blocks(bytes), second ? 2 : 1);
  reading_kernel<<<grid, THREADS, 0, stream>>>((const uint4 *)first, (const uint4 *)second,
                                               bytes / sizeof(uint4), mixed);
  return cudaGetLastError();
}

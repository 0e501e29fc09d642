// Measures the bandwidth of the L2 cache: all blocks read a window that it holds.
#include "ceilings/kernels.h"
#include <cuda_runtime.h>

static constexpr int THREADS = 256;
static constexpr int PIECES = 4; // of a thread, of 16 bytes, all on their way at once
static_assert(L2_CHUNK_BYTES == THREADS * PIECES * sizeof(uint4), "what a block reads in a round");

// A load by __ldcg takes its bytes from the L2 cache, whatever the multiprocessor's own cache holds. The sum needs all
// of them, so the compiler cannot leave out a load.
__launch_bounds__(THREADS) __global__
    void l2_read_kernel(const uint4 *window, unsigned chunks, unsigned *sums) {
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();

  unsigned chunk = blockIdx.x % chunks;
  unsigned of_thread = 0;
#pragma unroll 1
  for (int round = 0; round < L2_ROUNDS; round++) {
    const uint4 *own = window + (size_t)chunk * PIECES * THREADS + threadIdx.x;
    uint4 pieces[PIECES];
#pragma unroll
    for (int i = 0; i < PIECES; i++) pieces[i] = __ldcg(&own[i * THREADS]);
#pragma unroll
    for (int i = 0; i < PIECES; i++)
      of_thread += pieces[i].x + pieces[i].y + pieces[i].z + pieces[i].w;
    chunk = chunk + 1 < chunks ? chunk + 1 : 0;
  }

  const unsigned of_warp = __reduce_add_sync(0xffffffff, of_thread);
  if (threadIdx.x % 32 == 0) atomicAdd(&of_block, of_warp);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = of_block;
}

cudaError_t l2_read_launch(const void *window, size_t bytes, unsigned *sums, unsigned blocks,
                           cudaStream_t stream) {
  const unsigned chunks = (unsigned)(bytes / L2_CHUNK_BYTES);
  l2_read_kernel<<<blocks, THREADS, 0, stream>>>((const uint4 *)window, chunks, sums);
  return cudaGetLastError();
}

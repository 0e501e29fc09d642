// Measures the bandwidth of the memory by a kernel that only reads. This is the least time that decode can take: one
// query against many keys reads K and V once, and writes next to nothing.
#include "ceilings/kernels.h"
#include <cuda_runtime.h>

static constexpr int THREADS = 256;
static constexpr int PIECES =
    32; // of a thread, of 16 bytes; as many as it can have on their way at once
static_assert(READ_BLOCK_BYTES == THREADS * PIECES * sizeof(uint4), "what a block reads");

__device__ __forceinline__ uint4 exclusive_or(uint4 a, uint4 b) {
  return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

// Each warp stores the exclusive or of all pieces that it has read, so that none of them can be left out.
__global__ void read_kernel(const uint4 *source, uint4 *mixed) {
  const uint4 *own = source + (size_t)blockIdx.x * PIECES * THREADS + threadIdx.x;
  uint4 pieces[PIECES];
#pragma unroll
  for (int i = 0; i < PIECES; i++) pieces[i] = own[i * THREADS];
#pragma unroll
  for (int i = 1; i < PIECES; i++) pieces[0] = exclusive_or(pieces[0], pieces[i]);
  for (int offset = 1; offset < 32; offset *= 2) {
    const uint4 p = pieces[0];
    pieces[0] = exclusive_or(p, make_uint4(__shfl_xor_sync(0xffffffff, p.x, offset),
                                           __shfl_xor_sync(0xffffffff, p.y, offset),
                                           __shfl_xor_sync(0xffffffff, p.z, offset),
                                           __shfl_xor_sync(0xffffffff, p.w, offset)));
  }
  if (threadIdx.x % 32 == 0) mixed[(blockIdx.x * THREADS + threadIdx.x) / 32] = pieces[0];
}

cudaError_t read_launch(const void *source, void *mixed, size_t bytes, cudaStream_t stream) {
  read_kernel<<<(unsigned)(bytes / READ_BLOCK_BYTES), THREADS, 0, stream>>>((const uint4 *)source,
                                                                            (uint4 *)mixed);
  return cudaGetLastError();
}

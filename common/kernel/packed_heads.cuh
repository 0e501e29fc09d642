// Parts of step 19 that step 20 takes over as they are: the loader of Q, the bytes of shared memory and the number of
// tiles. Step 19 explains them.
// From: 19_packed_heads
#ifndef PACKED_HEADS_CUH
#define PACKED_HEADS_CUH

#include "kernel.cuh"
#include "splits.cuh"
#include "swizzle.cuh"
#include <algorithm>

// Starts to copy the rows `first` to `end` - 1 of a group to a [BLOCK_M][D] tile. row_of(i) tells which row of Q is
// row i of the group. The rest of the tile repeats the last row, as in load_tile.
template <typename tile, int D, typename Element, typename Row>
__device__ __forceinline__ void load_queries(Element *smem, const Element *Q, int first, int end,
                                             const Row &row_of) {
  const int d = threadIdx.x % (D / PIECE) * PIECE;
#pragma unroll 1
  for (int i = threadIdx.x / (D / PIECE); i < tile::BLOCK_M; i += tile::THREADS / (D / PIECE))
    __pipeline_memcpy_async(&smem[swizzled<D>(i, d)], &Q[row_of(min(first + i, end - 1)) * D + d],
                            sizeof(uint4));
}

// Bytes of shared memory: Q and the rings of K and V, or the sums of warps that share the keys, which come in their
// place, D + 10 floats for each row. The sums are more bytes only in tile 32x64x4x2 of step 20, at head_dim 64.
template <typename tile, int D>
static constexpr size_t
    SHARED_BYTES = std::max(sizeof(half) * (tile::BLOCK_M + 2 * tile::STAGES * tile::BLOCK_N) * D,
                            sizeof(float) * tile::KEY_WARPS * tile::BLOCK_M * (D + 8 + 2));

// The tiles of all key/value heads, as a double: an int may be too small.
template <typename tile>
static double tiles_of(const attention_shape &shape) {
  return (double)divide_up(packed_rows(shape), tile::BLOCK_M) * shape.kv_heads * shape.batch;
}

#endif

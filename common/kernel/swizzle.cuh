// The swizzle of step 08 and its copies of a tile, which steps 18 to 20 and 25 take over as they are. Step 08 explains
// them, and a test compares the two files (common/tests/scripts/test_diff.c).
// From: 08_swizzle
#ifndef SWIZZLE_CUH
#define SWIZZLE_CUH

#include <cuda_pipeline.h>

static constexpr int PIECE = 8; // elements, 16 bytes: the swizzle's unit, a row of an 8 x 8 matrix

// Where column d of row `row` lies in a [rows][D] tile, for d a multiple of PIECE. To move by k, a multiple
// of 16 columns, is an XOR as well: swizzled(row, d + k) == (swizzled(row, d) ^ k) for d below 16.
template <int D>
__device__ __forceinline__ int swizzled(int row, int d) {
  return row * D + (d / PIECE ^ row % 8) * PIECE;
}

// Starts to copy the first `rows` rows of a [rows, D] matrix to a [TILE_ROWS][D] tile. The rest of the tile
// repeats the last row, which is cheaper than zeros. It changes no result, because the mask makes the
// probabilities past the last key 0, and rows past the last query are not stored.
template <typename tile, int TILE_ROWS, int D, typename Element>
__device__ __forceinline__ void load_tile(Element *smem, const Element *matrix, int rows) {
  constexpr int COPIED = tile::THREADS / (D / PIECE); // rows at once
  static_assert(TILE_ROWS % COPIED == 0 && COPIED % 8 == 0, "all copies of a thread swizzle alike");
  const int row = threadIdx.x / (D / PIECE);
  const int d = threadIdx.x % (D / PIECE) * PIECE;
  smem += swizzled<D>(row, d);
  if (rows >= TILE_ROWS) { // nearly always: the addresses of the copies differ by constants
    matrix += row * D + d;
#pragma unroll
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[i * D], sizeof(uint4));
  } else {
#pragma unroll 1
    for (int i = 0; i < TILE_ROWS; i += COPIED)
      __pipeline_memcpy_async(&smem[i * D], &matrix[min(i + row, rows - 1) * D + d], sizeof(uint4));
  }
}

#endif

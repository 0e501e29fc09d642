// The swizzle of step 08 and its copies of a tile, which steps 18 to 20 take over as they are, and its two products, here
// with the keys that a warp has of a key block. Step 08 explains them, and a test compares the copies in the two files
// (common/tests/scripts/test_diff.c).
// From: 08_swizzle
#ifndef SWIZZLE_CUH
#define SWIZZLE_CUH

#include "ptx.cuh"
#include <cuda_pipeline.h>

static constexpr int PIECE = 8; // elements, 16 bytes: a lane's copy, and a row of an 8 x 8 matrix

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

// S_frag [WARP_ROWS, WARP_KEYS] += Q_smem [WARP_ROWS, D] K_smem^T [D, WARP_KEYS].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], const Element *Q_smem,
                const Element *K_smem) {
  const int lane = threadIdx.x % 32;
  const int Q_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
  const int K_lane = swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * PIECE);
#pragma unroll(tile::UNROLLED)
  for (int k = 0; k < D; k += 16) {
    unsigned Q_frag[tile::ROW_FRAGMENTS][4];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      load_matrices(Q_frag[i], &Q_smem[16 * i * D + (Q_lane ^ k)]);
    for (int n = 0; n < tile::WARP_KEYS / 8; n += 2) {
      unsigned K_frag[4]; // two fragments of 8 keys
      load_matrices(K_frag, &K_smem[8 * n * D + (K_lane ^ k)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&S_frag[i][4 * (n + m)], Q_frag[i], &K_frag[2 * m]);
    }
  }
}

// O_frag [WARP_ROWS, D] += P_frag [WARP_ROWS, WARP_KEYS] V_smem [WARP_KEYS, D].
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element *V_smem) {
  const int lane = threadIdx.x % 32;
  const int V_lane = swizzled<D>(lane % 16, lane / 16 * PIECE);
#pragma unroll
  for (int k = 0; k < tile::WARP_KEYS; k += 16) {
    for (int n = 0; n < D / 8; n += 2) {
      unsigned V_frag[4]; // two fragments of 8 columns
      load_matrices_transposed(V_frag, &V_smem[k * D + (V_lane ^ 8 * n)]);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        for (int m = 0; m < 2; m++)
          multiply_fragments<Element>(&O_frag[i][4 * (n + m)], &P_frag[i][k / 4], &V_frag[2 * m]);
    }
  }
}

#endif

// The two products and the row factors of step 05, which step 06 takes over as they are. Step 05 explains them.
// From: 05_wmma
#ifndef WMMA_PRODUCTS_CUH
#define WMMA_PRODUCTS_CUH

#include "wmma.cuh"

// S_smem [BLOCK_M, BLOCK_N] = Q [BLOCK_M, D] K_smem^T [D, BLOCK_N], the warp's part. A row of K is a column of
// K^T, so K^T in column-major order is K as it lies. The widths are those of a row, with its pad.
template <typename tile, int D, typename Element, int S_WIDTH, int K_WIDTH>
__device__ __forceinline__ void
multiply_scores(float (*S_smem)[S_WIDTH],
                const matrix_a<Element> (&Q_frag)[tile::ROW_FRAGMENTS][D / FRAGMENT],
                const Element (*K_smem)[K_WIDTH]) {
  for (int key = fragment_column<tile>(0); key < tile::BLOCK_N; key += tile::WARPS_N * FRAGMENT) {
    accumulator S_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++) wmma::fill_fragment(S_frag[i], 0.0f);
    for (int k = 0; k < D / FRAGMENT; k++) {
      matrix_b<Element, wmma::col_major> K_frag;
      wmma::load_matrix_sync(K_frag, &K_smem[key][k * FRAGMENT], K_WIDTH);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(S_frag[i], Q_frag[i][k], K_frag, S_frag[i]);
    }
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::store_matrix_sync(&S_smem[fragment_row<tile>(i)][key], S_frag[i], S_WIDTH,
                              wmma::mem_row_major);
  }
}

// O [BLOCK_M, D] += P_smem [BLOCK_M, BLOCK_N] V_smem [BLOCK_N, D], the warp's part.
template <typename tile, int D, typename Element, int COLUMNS, int P_WIDTH, int V_WIDTH>
__device__ __forceinline__ void
accumulate_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                  const Element (*P_smem)[P_WIDTH], const Element (*V_smem)[V_WIDTH]) {
#pragma unroll 1 // all at once would need more registers than a thread can have
  for (int k = 0; k < tile::BLOCK_N; k += FRAGMENT) {
    matrix_a<Element> P_frag[tile::ROW_FRAGMENTS];
    for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
      wmma::load_matrix_sync(P_frag[i], &P_smem[fragment_row<tile>(i)][k], P_WIDTH);
    for (int j = 0; j < COLUMNS; j++) {
      if (fragment_column<tile>(j) >= D) break; // more warps than columns of fragments
      matrix_b<Element, wmma::row_major> V_frag;
      wmma::load_matrix_sync(V_frag, &V_smem[k][fragment_column<tile>(j)], V_WIDTH);
      for (int i = 0; i < tile::ROW_FRAGMENTS; i++)
        wmma::mma_sync(O_frag[i][j], P_frag[i], V_frag, O_frag[i][j]);
    }
  }
}

// Fills row `row` of factor_smem, a [BLOCK_M, 16] matrix, with the row's factor. The lanes that share the row write
// 4 columns at a time, in turn.
template <typename tile, int WIDTH>
__device__ __forceinline__ void store_factor(float (*factor_smem)[WIDTH], int row, float factor) {
  for (int column = threadIdx.x % 32 / tile::WARP_ROWS * 4; column < FRAGMENT;
       column += tile::ROW_LANES * 4)
    *(float4 *)&factor_smem[row][column] = make_float4(factor, factor, factor, factor);
}

// Multiplies row r of O by the factor that fills row r of factor_smem. wmma does not tell which element of O a lane
// holds. But in a fragment of the same type, element e is in the same place. So element e of the fragment of factors
// is the factor for element e of O.
template <typename tile, int COLUMNS, int WIDTH>
__device__ __forceinline__ void scale_output(accumulator (&O_frag)[tile::ROW_FRAGMENTS][COLUMNS],
                                             const float (*factor_smem)[WIDTH]) {
  for (int i = 0; i < tile::ROW_FRAGMENTS; i++) {
    accumulator factor;
    wmma::load_matrix_sync(factor, factor_smem[fragment_row<tile>(i)], WIDTH, wmma::mem_row_major);
    for (int j = 0; j < COLUMNS; j++)
      for (int e = 0; e < factor.num_elements; e++) O_frag[i][j].x[e] *= factor.x[e];
  }
}

#endif

// The two products of step 18, which steps 19, 20 and 25 take over, here with the keys that a warp has of a key block.
// The formula that merges sums over different keys is in merge.cuh.
// From: 18_split_kv
#ifndef SPLIT_KV_CUH
#define SPLIT_KV_CUH

#include "merge.cuh"
#include "ptx.cuh"
#include "swizzle.cuh"

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

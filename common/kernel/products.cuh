// The product of Q and K, which steps 13 to 17, 21 to 24 and 26 take over from step 11 as it is. Step 11 explains it.
// From: 11_wgmma
#ifndef PRODUCTS_CUH
#define PRODUCTS_CUH

#include "hopper.cuh"
#include "wgmma.cuh"

// Queues S_frag [64, BLOCK_N] = Q_smem [64, D] K_smem^T [D, BLOCK_N], the part of a warp group whose rows of Q
// begin at group_row; the caller waits for it. A step of 16 columns in a row of a panel is 32 bytes, which is
// 2 in the units of a descriptor.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
multiply_scores(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                const Element (*Q_smem)[tile::BLOCK_M][PANEL], int group_row,
                const Element (*K_smem)[tile::BLOCK_N][PANEL] TIMELINE_SITE) {
  wgmma_fence(TIMELINE_PASS_FIRST);
#pragma unroll
  for (int k = 0; k < D; k += 16)
    wgmma<Element, tile::BLOCK_N>::shared(
        S_frag[0], matrix_descriptor(Q_smem[k / PANEL][group_row], 0) + k % PANEL / 8,
        matrix_descriptor(K_smem[k / PANEL], 0) + k % PANEL / 8, k == 0);
  wgmma_commit();
}

#endif

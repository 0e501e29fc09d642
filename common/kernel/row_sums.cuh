// The product of P and V with the row sums of P, and the ones that it needs. Step 17 takes over both from step 16
// as they are. Step 16 explains them.
// From: 16_row_sums
#ifndef ROW_SUMS_CUH
#define ROW_SUMS_CUH

#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "persistent.cuh"

// Queues O_frag [64, D + 8] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D + 8], the part of one warp group; the caller
// waits for it. If `first` is set, O_frag = P V. V_smem has a panel of ones behind those of V. A step of 16 keys
// moves 16 rows of 128 bytes, which is 8 for a key in the units of a descriptor.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2 + 4],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL], bool first TIMELINE_SITE) {
  wgmma_fence(TIMELINE_PASS_FIRST);
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16)
    wgmma<Element, D + 8>::registers(O_frag[0], &P_frag[0][k / 4],
                                     matrix_descriptor(V_smem[0], sizeof(V_smem[0])) + 8 * k,
                                     k == 0 && first);
  wgmma_commit();
}

// Fills the panel of ones behind V in each stage. All threads of the block call it, before they meet at a
// __syncthreads(). The copy engine never writes there.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void fill_with_ones(shared_tiles<tile, Element, D> &smem) {
  const unsigned pair = pack_pair<Element>(1.0f, 1.0f);
  for (int stage = 0; stage < tile::STAGES; stage++)
    for (int i = threadIdx.x; i < tile::BLOCK_N * PANEL / 8; i += tile::THREADS)
      ((uint4 *)smem.V[stage][D / PANEL])[i] = make_uint4(pair, pair, pair, pair);
  writes_for_wgmma();
}

#endif

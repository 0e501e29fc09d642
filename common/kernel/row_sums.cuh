// The product of P and V with the row sums of P, which step 17 takes over from step 16 as it is. Step 16 explains
// it.
#ifndef ROW_SUMS_CUH
#define ROW_SUMS_CUH

#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"

// Queues O_frag [64, D + 8] += P_frag [64, BLOCK_N] [V_smem, ones] [BLOCK_N, D + 8], the part of one warp group;
// the caller waits for it. If `first` is set, O_frag = P [V, ones]. A product with the last panel of V finds the
// ones in the next panel. A step of 16 keys moves 16 rows of 128 bytes, 8 for a key in the units of a
// descriptor. The ones are the same for all steps, so they come closer to V by as much.
template <typename tile, int D, typename Element>
__device__ __forceinline__ void
accumulate_output(float (&O_frag)[tile::ROW_FRAGMENTS][D / 2 + 4],
                  const unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::BLOCK_N / 4],
                  const Element (*V_smem)[tile::BLOCK_N][PANEL], const Element (*ones)[PANEL],
                  bool first) {
  constexpr int LAST = D / PANEL - 1; // panel
  const unsigned distance = shared_address(ones) - shared_address(V_smem[LAST]);
  const uint64_t last_panel = matrix_descriptor(V_smem[LAST], distance);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < tile::BLOCK_N; k += 16) {
    const bool clear = k == 0 && first;
    if constexpr (LAST > 0)
      wgmma<Element, LAST * PANEL>::registers(registers_from<LAST * PANEL / 2>(O_frag[0], 0),
                                              &P_frag[0][k / 4],
                                              matrix_descriptor(V_smem[0], 0) + 8 * k, clear);
    wgmma<Element, PANEL + 8>::registers(registers_from<PANEL / 2 + 4>(O_frag[0], LAST * PANEL / 2),
                                         &P_frag[0][k / 4],
                                         last_panel + 8 * k - ((uint64_t)(8 * k) << 16), clear);
  }
  wgmma_commit();
}

#endif

// The mask and the online softmax of step 20, which step 25 takes over.
// From: 20_one_kernel
#ifndef ONLINE_SOFTMAX_CUH
#define ONLINE_SOFTMAX_CUH

#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has 2 of every 8 keys.
__device__ __forceinline__ int lane_key(int n) { return n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2; }

// Sets the lane's scores of its row r to -infinity, from key number `limit` of the key block on.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                                         int r, int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (lane_key(n) >= limit) of_row(S_frag, r, n) = -INFINITY;
}

// The online softmax of the lane's rows: its scores become probabilities in place. `correction` receives the
// factors that scale the sums of the blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ void
softmax_rows(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             float (&row_max)[tile::LANE_ROWS], float (&row_sum)[tile::LANE_ROWS],
             float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  float subtracted[tile::LANE_ROWS]; // from the scores times scale_log2
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = row_max[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) new_max[r] = fmaxf(new_max[r], of_row(S_frag, r, n));
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    // Both products are rounded, so that the factor is exactly 1 as long as the max stays.
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
  }
  subtract_large_max(S_frag, scale_log2, row_max, new_max, subtracted, correction); // rare
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    row_max[r] = new_max[r];
    row_sum[r] *= correction[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) {
      float &s = of_row(S_frag, r, n);
      s = exp2_approximate(fmaf(s, scale_log2, -subtracted[r])); // one multiply-add
      row_sum[r] += s;
    }
  }
}

// Rounds probabilities to 16 bits: two neighbouring columns of S, rounded, are one register of P.
template <typename Element, int COUNT>
__device__ __forceinline__ void round_probabilities(unsigned *P_frag,
                                                    const float (&S_frag)[COUNT]) {
  for (int i = 0; i < COUNT / 2; i++)
    P_frag[i] = pack_pair<Element>(S_frag[2 * i], S_frag[2 * i + 1]);
}

// Multiplies the lane's two rows of O by their factors.
template <int COUNT>
__device__ __forceinline__ void scale_output(float (&O_frag)[COUNT], const float *factor) {
  for (int i = 0; i < COUNT; i++) O_frag[i] *= factor[i / 2 % 2];
}

#endif

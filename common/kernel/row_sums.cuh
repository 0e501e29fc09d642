// What steps 17, 21 to 24 and 26 take over from step 16, which explains it: the configuration, the product of P and V
// with the row sums of P, the ones in shared memory that it needs, the two parts of the online softmax, how P is rounded,
// and how O is rescaled.
// From: 16_row_sums
#ifndef ROW_SUMS_CUH
#define ROW_SUMS_CUH

#include "fragments.cuh"
#include "hopper.cuh"
#include "kernel.cuh"
#include "persistent.cuh"

template <int M, int N, int W, int S>
struct configuration {
  static constexpr int BLOCK_M = M; // query rows of a tile
  static constexpr int BLOCK_N = N; // keys of a block
  static constexpr int WARPS = W;   // of the consumers; the producer's four warps come on top
  static constexpr int STAGES = S;  // key blocks in shared memory at once
  static constexpr int CONSUMERS = WARPS / 4; // warp groups
  static constexpr int THREADS = 128 * (1 + CONSUMERS);
  static constexpr int WARP_ROWS = BLOCK_M / WARPS;
  static constexpr int ROW_FRAGMENTS = WARP_ROWS / 16; // of one warp
  static constexpr int LANE_ROWS = WARP_ROWS / 8;      // that a lane has a part of
  static constexpr int LANE_KEYS = BLOCK_N / 4;        // of one lane, in each of its rows
  static constexpr int MAX_DIM = WARPS > 8 ? 64 : 128; // three consumers lack registers for 128

  static_assert(WARPS % 4 == 0 && WARP_ROWS == 16 && BLOCK_N % 16 == 0, "whole products");
};

// Queues O_frag [64, D + 8] += P_frag [64, BLOCK_N] V_smem [BLOCK_N, D + 8], the part of one warp group; the caller
// waits for it. If `first` is set, O_frag = P V. V_smem has a panel of ones behind those of V. A descriptor counts in
// units of 16 bytes: a key, which is a row of 128 bytes, is 8 of them, so key k begins 8 k behind the first.
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

// Fills the panel of ones behind V in each stage. All consumers call it, before their first product with V. The copy
// engine may fill V meanwhile, since it never writes to this panel.
template <typename tile, typename Element, int D>
__device__ __forceinline__ void fill_with_ones(shared_tiles<tile, Element, D> &smem) {
  const unsigned pair = pack_pair<Element>(1.0f, 1.0f);
  for (int stage = 0; stage < tile::STAGES; stage++)
    for (int i = threadIdx.x - 128; i < tile::BLOCK_N * PANEL / 8; i += tile::THREADS - 128)
      ((uint4 *)smem.V[stage][D / PANEL])[i] = make_uint4(pair, pair, pair, pair);
  writes_for_wgmma();
  named_barrier_wait(1 + tile::CONSUMERS, 128 * tile::CONSUMERS); // all ones are there
}

// The first part of the online softmax: the new row max of the lane's rows, what the second part subtracts from their
// scores times scale_log2, and in `correction` the factors that scale the sums of the blocks before to the new row max.
template <typename tile>
__device__ __forceinline__ void
find_row_max(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             float (&row_max)[tile::LANE_ROWS], float (&subtracted)[tile::LANE_ROWS],
             float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = row_max[r];
    for (int n = 0; n < tile::LANE_KEYS; n++) new_max[r] = fmaxf(new_max[r], of_row(S_frag, r, n));
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    // Both products are rounded, so that the factor is exactly 1 as long as the max stays.
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
  }
  subtract_large_max(S_frag, scale_log2, row_max, new_max, subtracted, correction); // rare
  for (int r = 0; r < tile::LANE_ROWS; r++) row_max[r] = new_max[r];
}

// Returns the largest of `start` and the lane's scores of its row r, or a negative number if all of them are negative.
// Floats that are not negative have the order of the integers with the same bits, of which one instruction compares
// three. Two maxima take turns: an instruction waits for the one before it that has the same maximum.
template <typename tile>
__device__ __forceinline__ float
max_of_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], int r, float start) {
  const auto bits = [&](int n) { return __float_as_int(of_row(S_frag, r, n)); };
  int largest[2] = {__float_as_int(start), bits(0)};
  for (int n = 1; n + 1 < tile::LANE_KEYS; n += 2)
    largest[n / 2 % 2] = __vimax3_s32(largest[n / 2 % 2], bits(n), bits(n + 1));
  return __int_as_float(__vimax3_s32(largest[0], largest[1], bits(tile::LANE_KEYS - 1)));
}

// Does the same as find_row_max, by maxima of integers, if none of the warp's rows has a lane whose own max is negative
// or large, and returns true. Otherwise it returns false and changes nothing.
template <typename tile>
__device__ __forceinline__ bool
find_ordinary_row_max(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
                      float (&row_max)[tile::LANE_ROWS], float (&subtracted)[tile::LANE_ROWS],
                      float (&correction)[tile::LANE_ROWS]) {
  float new_max[tile::LANE_ROWS];
  bool ordinary = true;
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    new_max[r] = max_of_row<tile>(S_frag, r, row_max[r]);
    ordinary = ordinary && new_max[r] >= 0.0f && product_is_small(new_max[r] * scale_log2);
    new_max[r] = max_over_lanes<1, 4>(new_max[r]);
  }
  // The vote is about the lanes' own maxima, so it does not wait for the exchange. If all of them are ordinary, so is
  // the max of each row.
  if (!__all_sync(0xffffffff, ordinary)) return false;
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    subtracted[r] = __fmul_rn(new_max[r], scale_log2);
    correction[r] = exp2_approximate(__fmul_rn(row_max[r], scale_log2) - subtracted[r]);
    row_max[r] = new_max[r];
  }
  return true;
}

// The second part, for the lane's row r alone: its scores become probabilities in place. ADD adds them to row_sum.
template <typename tile, bool ADD>
__device__ __forceinline__ void
exponentiate_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], int r, float scale_log2,
                 float subtracted, float correction, float &row_sum) {
  row_sum *= correction;
  for (int n = 0; n < tile::LANE_KEYS; n++) {
    float &s = of_row(S_frag, r, n);
    s = exp2_approximate(fmaf(s, scale_log2, -subtracted)); // one multiply-add
    if (ADD) row_sum += s;
    // Adds 0 times a probability. So the next eight multiply-adds wait for the first of these eight exponentials;
    // otherwise the compiler would place all of the row's multiply-adds first, and only then its exponentials.
    if (n % 8 == 7) subtracted = fmaf(of_row(S_frag, r, n - 7), 0.0f, subtracted);
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

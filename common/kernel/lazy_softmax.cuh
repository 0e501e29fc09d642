// The lazy softmax of step 17, with the mask and the rehearsal, as later steps take them over.
// Step 17 explains them, and a test compares the two files (common/tests/scripts/test_diff.c).
// From: 17_lazy_max
#ifndef LAZY_SOFTMAX_CUH
#define LAZY_SOFTMAX_CUH

#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"
#include <type_traits>

// Whether the lazy softmax runs under products of its own warp group as well, and not only under those of the
// others. It needs a second P, since S must be kept until P is known to be good, and registers for it. At head_dim 64
// a second P pays only where there are no others.
template <typename tile, int D>
static constexpr bool OVERLAP = D == 128 || tile::CONSUMERS == 1;

// Returns the key of the block that the lane's score number n of a row belongs to: a lane has 2 of every 8 keys.
__device__ __forceinline__ int lane_key(int n) { return n / 2 * 8 + threadIdx.x % 4 * 2 + n % 2; }

// Sets the lane's scores of its row r to -infinity, from key number `limit` of the key block on. Both sides of the
// comparison count from the lane's first key, so that the left one is a constant.
template <typename tile>
__device__ __forceinline__ void mask_row(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS],
                                         int r, int limit) {
  for (int n = 0; n < tile::LANE_KEYS; n++)
    if (n / 2 * 8 + n % 2 >= limit - lane_key(0)) of_row(S_frag, r, n) = -INFINITY;
}

// The old max may stay while the largest probability is at most 2^15 in fp16, the last power of 2 there, or 2^64 in
// bf16. LAZY_LIMIT has the bits of this number, because bits are compared. rehearsal_fails, below, compares scores times
// scale_log2, which are exponents of 2. Its limit, REHEARSAL_LOG2, is lower: about four fifths of 15 or of 64.
template <typename Element>
static constexpr unsigned LAZY_LIMIT = std::is_same<Element, half>::value ? 0x7800 : 0x5F80;
template <typename Element>
static constexpr float REHEARSAL_LOG2 = std::is_same<Element, half>::value ? 12.0f : 51.0f;

// A warp fails at a key block if its old max is too small, or if it is wary, as it is for the rest of a tile in which
// it has failed FAILURES times. If the four warps of a group fail more often together than once for BLOCKS_PER_FAILURE
// key blocks of a tile, their thread block is wary for WARY_TILES tiles, which run in a loop that counts no failures.
static constexpr int FAILURES = 2;
static constexpr int BLOCKS_PER_FAILURE = 16;
static constexpr int WARY_TILES = 64;

// The lazy softmax of the lane's rows: computes P_frag from S_frag with the old row max, and row_sum if ADD is
// set. Returns false, with S_frag and row_sum unchanged, if that max is too small for a row of the warp.
template <typename tile, typename Element, bool ADD>
__device__ __forceinline__ bool
lazy_softmax(unsigned (&P_frag)[tile::ROW_FRAGMENTS][tile::LANE_KEYS],
             const float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
             const float (&row_max)[tile::LANE_ROWS], float (&row_sum)[tile::LANE_ROWS]) {
  const float subtracted[2] = {row_max[0] * scale_log2, row_max[1] * scale_log2};
  bool fits = product_is_small(subtracted[0]) && product_is_small(subtracted[1]);
  float sum[2][2] = {}; // of each row: of the left and of the right numbers of its pairs
  unsigned largest = 0; // of each half of a register, as integers: NaN is above all numbers
#pragma unroll
  for (int i = 0; i < tile::LANE_KEYS; i++) { // pairs of the one row and of the other, in turn
    const int r = i % 2;
    const float *pair = &S_frag[0][2 * i];
    const float left = exp2_approximate(fmaf(pair[0], scale_log2, -subtracted[r]));
    const float right = exp2_approximate(fmaf(pair[1], scale_log2, -subtracted[r]));
    if (ADD) sum[r][0] += left;
    if (ADD) sum[r][1] += right;
    P_frag[0][i] = pack_pair<Element>(left, right);
    if (i % 2) largest = __vimax3_u16x2(largest, P_frag[0][i - 1], P_frag[0][i]);
  }
  fits = fits && (largest & 0xffff) <= LAZY_LIMIT<Element> && largest >> 16 <= LAZY_LIMIT<Element>;
  if (!__all_sync(0xffffffff, fits)) return false;
  for (int r = 0; r < tile::LANE_ROWS; r++) row_sum[r] += sum[r][0] + sum[r][1];
  return true;
}

// Rehearses the lazy softmax in a tile's first block, as if the max of the first half of its keys were the old one.
// Returns true if that max is too small for a row of the warp, so that the rows of the tile are likely to fail.
template <typename tile, typename Element>
__device__ __forceinline__ bool
rehearsal_fails(float (&S_frag)[tile::ROW_FRAGMENTS][2 * tile::LANE_KEYS], float scale_log2,
                const float (&row_max)[tile::LANE_ROWS]) {
  unsigned failed = 0; // bit 4 i is set if a row of lanes 4 i to 4 i + 3 has too small a max
  for (int r = 0; r < tile::LANE_ROWS; r++) {
    float old_max = -INFINITY;
    for (int n = 0; n < tile::LANE_KEYS / 2; n++) old_max = fmaxf(old_max, of_row(S_frag, r, n));
    // The row's max in that half is the largest of the numbers of its four lanes. So it is too small only if each is.
    const unsigned lanes =
        __ballot_sync(0xffffffff, (row_max[r] - old_max) * scale_log2 > REHEARSAL_LOG2<Element>);
    failed |= lanes & lanes >> 1 & lanes >> 2 & lanes >> 3 & 0x11111111;
  }
  return failed != 0;
}

#endif

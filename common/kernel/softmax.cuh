// The online softmax of steps 11 to 17. It is that of step 07, on the accumulators of wgmma. A lane holds
// parts of two rows of S [64, 2 COUNT], in fragments of 8 columns. Elements 4 n and 4 n + 1 of S_frag are
// columns 8 n + 2 (lane % 4) and the next one, in row lane / 4 of the warp's 16 rows (half_row 0). Elements 4
// n + 2 and 4 n + 3 are the same columns in the row 8 below (half_row 1). Dao et al., FlashAttention, 2022,
// section 3.1.
#ifndef SOFTMAX_CUH
#define SOFTMAX_CUH

#include "fragments.cuh"
#include "kernel.cuh"
#include "ptx.cuh"

// Masks one of the lane's rows: sets its scores past the first `limit` keys to -infinity.
template <int COUNT>
__device__ __forceinline__ void mask_row(float (&S_frag)[COUNT], int half_row, int limit) {
  const int lane_limit = limit - threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < COUNT / 4; n++)
    for (int e = 0; e < 2; e++)
      if (8 * n + e >= lane_limit) S_frag[4 * n + 2 * half_row + e] = -INFINITY;
}

// Computes the online softmax of one of the lane's rows. Its scores become probabilities in place. Returns
// the factor that rescales the sums of earlier keys to the new row max.
template <int COUNT>
__device__ __forceinline__ float softmax_row(float (&S_frag)[COUNT], int half_row, float scale_log2,
                                             float &row_max, float &row_sum) {
  float new_max = row_max;
#pragma unroll
  for (int n = 0; n < COUNT / 4; n++)
    for (int e = 0; e < 2; e++) new_max = fmaxf(new_max, S_frag[4 * n + 2 * half_row + e]);
  // The lane asks about its own scores, before the shuffles: if only another lane of the row has large
  // scores, the probabilities of this lane are 0 in either way.
  const bool small = product_is_small(new_max * scale_log2);
  for (int offset = 2; offset > 0; offset /= 2)
    new_max = fmaxf(new_max, __shfl_xor_sync(0xffffffff, new_max, offset));
  float subtracted = new_max * scale_log2;
  // Both products are rounded, so that the difference is exactly 0 as long as the max stays.
  float change = __fmul_rn(row_max, scale_log2) - subtracted;
  if (!small) {
    // In this rare case the max is subtracted from the scores themselves. 0 takes the place of -infinity,
    // because -inf - -inf is not a number.
    const float shift = new_max == -INFINITY ? 0.0f : new_max;
#pragma unroll
    for (int n = 0; n < COUNT / 4; n++)
      for (int e = 0; e < 2; e++) S_frag[4 * n + 2 * half_row + e] -= shift;
    change = (row_max - shift) * scale_log2;
    subtracted = 0.0f;
  }
  const float correction = exp2_approximate(change);
  row_max = new_max;
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < COUNT / 4; n++)
    for (int e = 0; e < 2; e++) {
      float &s = S_frag[4 * n + 2 * half_row + e];
      s = exp2_approximate(fmaf(s, scale_log2, -subtracted));
      sum += s;
    }
  row_sum = row_sum * correction + sum;
  return correction;
}

// Rounds probabilities to Element. The layout of S is the layout that the second product wants P in.
template <typename Element, int COUNT>
__device__ __forceinline__ void round_probabilities(unsigned (&P_frag)[COUNT / 2],
                                                    const float (&S_frag)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT / 2; i++)
    P_frag[i] = pack_pair<Element>(S_frag[2 * i], S_frag[2 * i + 1]);
}

// Multiplies the lane's two rows of O by their factors.
template <int COUNT>
__device__ __forceinline__ void scale_output(float (&O_frag)[COUNT], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) O_frag[i] *= factor[i / 2 % 2];
}

// The epilogue: divides the lane's two rows of O by their sums and stores them and their lse, which may be
// NULL. They are rows `row` and row + 8 of a tile of `rows` rows, which begins at row first_row of O [.., D]
// and lse. row_sum is over the lane's own keys.
template <typename Element, int D>
__device__ __forceinline__ void store_output(Element *O, float *lse, size_t first_row, int row,
                                             int rows, const float (&O_frag)[D / 2],
                                             const float (&row_max)[2], const float (&row_sum)[2],
                                             float scale_log2) {
#pragma unroll
  for (int h = 0; h < 2; h++, row += 8) {
    float sum = row_sum[h];
    for (int offset = 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    const float factor = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f; // a row without keys gives 0
    if (lse && threadIdx.x % 4 == 0 && row < rows)
      lse[first_row + row] =
          sum > 0.0f ? (row_max[h] * scale_log2 + __log2f(sum)) * LN_2 : -INFINITY;
#pragma unroll
    for (int n = 0; n < D / 8; n += 4) {
      unsigned pairs[4]; // of columns, in four fragments
#pragma unroll
      for (int j = 0; j < 4; j++)
        pairs[j] = pack_pair<Element>(O_frag[4 * (n + j) + 2 * h] * factor,
                                      O_frag[4 * (n + j) + 2 * h + 1] * factor);
      store_columns<D>(O, first_row + row, n, pairs, row < rows);
    }
  }
}

#endif

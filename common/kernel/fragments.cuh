// Operations of a lane on its part of a tensor-core accumulator. After mma.sync and wgmma lane l holds, of
// every fragment of 8 columns, columns 2 (l % 4) and the next one, of rows l / 4 and l / 4 + 8. So four lanes
// share a row.
#ifndef FRAGMENTS_CUH
#define FRAGMENTS_CUH

#include "kernel.cuh"
#include "ptx.cuh"

// Returns the lane's element number n of its row r, in row fragments of 16 rows each. Row r is half r % 2 of
// row fragment r / 2. A row fragment is a series of fragments of 8 columns. Its elements 4 m and 4 m + 1 are
// columns 8 m + 2 (lane % 4) and the next one of row lane / 4; elements 4 m + 2 and 4 m + 3 are the same
// columns of the row 8 below.
template <int ROW_FRAGMENTS, int COUNT>
__device__ __forceinline__ float &of_row(float (&fragments)[ROW_FRAGMENTS][COUNT], int r, int n) {
  return fragments[r / 2][n / 2 * 4 + r % 2 * 2 + n % 2];
}

// How many groups of 16 columns of Q and K are multiplied at once in steps 08 to 10: all of them, except for GPUs from
// sm_100 on, where registers would spill at head_dim 128.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
static constexpr int UNROLLED = 4;
#else
static constexpr int UNROLLED = 8;
#endif

// Tells whether a row max times scale_log2, rounded to float32, may be subtracted in a multiply-add. The
// product is off by up to half of its last digit, which makes all probabilities of the row too large or too
// small by one factor. Up to 2^20 that factor is at most 2^(1/32), but at 2^29 it is up to 2^32, which fp16
// cannot hold. The answer is false for -infinity, which is the max of a row that has seen no key yet.
__device__ __forceinline__ bool product_is_small(float product) {
  return fabsf(product) <= 0x1p20f;
}

// In rows whose product is not small, subtracts the new row max from the scores themselves, which loses no
// digit, and sets `subtracted` to 0. A row that has seen no key yet keeps 0 in place of -infinity, because
// -inf - -inf is not a number. `correction` receives the factors that scale the sums of the blocks before to
// the new row max. This is rare, so the warp asks once for all its rows, and its lanes stay together. The
// rows are those of of_row.
template <int ROW_FRAGMENTS, int COUNT, int LANE_ROWS>
__device__ __forceinline__ void
subtract_large_max(float (&S_frag)[ROW_FRAGMENTS][COUNT], float scale_log2,
                   const float (&row_max)[LANE_ROWS], const float (&new_max)[LANE_ROWS],
                   float (&subtracted)[LANE_ROWS], float (&correction)[LANE_ROWS]) {
  bool small = true;
  for (int r = 0; r < LANE_ROWS; r++) small = small && product_is_small(subtracted[r]);
  if (__all_sync(0xffffffff, small)) return;
#pragma unroll
  for (int r = 0; r < LANE_ROWS; r++) {
    if (product_is_small(subtracted[r])) continue;
    const float shift = new_max[r] == -INFINITY ? 0.0f : new_max[r];
#pragma unroll
    for (int n = 0; n < COUNT / 2; n++) of_row(S_frag, r, n) -= shift;
    correction[r] = exp2_approximate((row_max[r] - shift) * scale_log2);
    subtracted[r] = 0.0f;
  }
}

// Returns the factor that scales sums over some keys of a row from their row max to `new_max`, that of more keys. P was
// computed with the product of its row max and scale_log2, rounded to float32. So the factor is computed from the same
// rounded products: it is off by as much as P, and the two cancel. Only where the new product is not small, the max was
// subtracted from the scores themselves. The factor of a row that has seen no key is 0.
__device__ __forceinline__ float rescaling_factor(float old_max, float new_max, float scale_log2) {
  const float product = __fmul_rn(new_max, scale_log2);
  const bool small = product_is_small(product);
  const float shift = small || new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf is not a number
  return exp2_approximate(__fmul_rn(old_max - shift, scale_log2) - (small ? product : 0.0f));
}

// Transposes a 4 x 4 matrix of registers across the four lanes that share a row: lane q gives column q of the
// matrix and receives row q.
__device__ __forceinline__ void transpose_across_lanes(unsigned (&x)[4]) {
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = threadIdx.x & bit;
    for (int i = 0; i < 4; i++) {
      if (i & bit) continue;
      const unsigned received = __shfl_xor_sync(0xffffffff, upper ? x[i] : x[i + bit], bit);
      (upper ? x[i] : x[i + bit]) = received;
    }
  }
}

// Stores fragments n to n + 3 of the lane's row, if `inside` is set, to row `row` of a [.., D] matrix of
// 16-bit elements. pairs[j] holds the lane's two columns of fragment n + j. The four lanes of the row
// exchange their pairs, so that each has 8 neighbouring columns and stores 16 bytes at once. All lanes of the
// warp must call it, and the matrix must begin at a multiple of 16 bytes.
template <int D, typename Element, typename Row>
__device__ __forceinline__ void store_columns(Element *matrix, Row row, int n, unsigned (&pairs)[4],
                                              bool inside) {
  const int row_lane = threadIdx.x % 4;
  transpose_across_lanes(pairs);
  if (inside)
    *(uint4 *)&matrix[row * D + 8 * (n + row_lane)] =
        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

// Stores one of the lane's two rows of O_frag [16, D], or of its first D columns, times `factor` and rounded to
// Element, to row `row` of a [.., D] matrix, if `inside` is set. half_row is 0 for row lane / 4 of the fragments, and
// 1 for the row 8 below. All lanes of the warp must call it.
template <int D, typename Element, typename Row, int COUNT>
__device__ __forceinline__ void store_row(Element *matrix, Row row, const float (&O_frag)[COUNT],
                                          int half_row, float factor, bool inside TIMELINE_SITE) {
  TIMELINE_AT(STORE)
#pragma unroll
  for (int n = 0; n < D / 8; n += 4) {
    unsigned pairs[4]; // of columns, in four fragments
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float *pair = &O_frag[4 * (n + j) + 2 * half_row];
      pairs[j] = pack_pair<Element>(pair[0] * factor, pair[1] * factor);
    }
    store_columns<D>(matrix, row, n, pairs, inside);
  }
}

#endif

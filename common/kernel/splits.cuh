// Partial results over some keys of a row, for the steps that divide the keys: 18 to 20 and 24 to 26. How many splits a
// user has asked for, where steps 18, 19, 24 and 26 keep partial results, and how merged ones are stored.
//
// Each split of the keys gives a partial result for every row: a row max, the sum of the probabilities, and O without the
// division by that sum. The max is the largest score of the split, but in steps 24 and 26 it may be an older, smaller one,
// to which sum and O belong. Max and sum are kept apart, not as one log-sum-exp. Where scores are as large as 1e9, a
// float32 has no digits left for the logarithm of a sum.
#ifndef SPLITS_CUH
#define SPLITS_CUH

#include "kernel.cuh"
#include <limits.h>

// The blocks of all tiles stand in x of the grid. configurations.cuh refuses problems with more tiles.
#define MOST_TILES (INT_MAX - 65535)

// A step that includes this file takes --splits N: a configuration may end in ":N" (configurations.cuh).
#define TAKES_SPLITS 1

static int chosen_splits; // 0: the step's own choice

// The query heads that share a key/value head, and the rows that they have together.
static constexpr __host__ __device__ int group_of(const attention_shape &shape) {
  return shape.heads / shape.kv_heads;
}
static constexpr __host__ __device__ int packed_rows(const attention_shape &shape) {
  return shape.seq_q * group_of(shape);
}

// Partial results in device memory, of `rows` rows for each split. If there is one split, there are none, and each
// block stores O and lse itself.
struct partial_results {
  float *O;        // [splits][rows][head_dim], not divided by the sum
  float2 *max_sum; // [splits][rows]; the max is -infinity where the row sees no key of the split
  int splits;
  size_t rows;
};

// Returns the bytes of `rows` partial rows for each split, or SIZE_MAX when the number does not fit.
static inline size_t partial_bytes(double rows, double splits, int head_dim) {
  const double bytes = sizeof(float) * rows * splits * (head_dim + 2);
  return bytes < 0x1p62 ? (size_t)bytes : SIZE_MAX;
}

// Returns where the partial results lie in the workspace.
static inline partial_results partials_at(void *workspace, size_t rows, int splits, int head_dim) {
  if (splits == 1) return {NULL, NULL, 1, rows}; // and perhaps no workspace
  float *const O = (float *)workspace;
  return {O, (float2 *)(O + rows * splits * head_dim), splits, rows};
}

// Stores one of the lane's two rows of O_frag [16, D], in float32 and times `factor`, but not divided by its sum, to
// row `row` of a matrix whose rows lie PITCH floats apart, if `inside`. half_row is as for store_row (fragments.cuh).
template <int D, int PITCH = D, int COUNT>
__device__ __forceinline__ void store_partial_row(float *matrix, size_t row,
                                                  const float (&O_frag)[COUNT], int half_row,
                                                  bool inside, float factor = 1.0f) {
  if (!inside) return;
#pragma unroll
  for (int n = 0; n < D / 8; n++) {
    const float *pair = &O_frag[4 * n + 2 * half_row];
    *(float2 *)&matrix[row * PITCH + 8 * n + threadIdx.x % 4 * 2] =
        make_float2(pair[0] * factor, pair[1] * factor);
  }
}

// A thread's part of a row: 4 columns of O, not yet divided by the sum. It begins as that of a row without any key.
struct partial_row {
  float2 max_sum = {-INFINITY, 0.0f};
  float4 O = {0.0f, 0.0f, 0.0f, 0.0f};
};

// Stores columns d to d + 3 of a row, divided by the sum. The thread of the first columns stores lse.
template <int D, typename Element>
__device__ __forceinline__ void store_merged(const partial_row &sums, Element *O, float *lse,
                                             size_t row, int d, float scale_log2) {
  const float sum = sums.max_sum.y;
  const float factor = sum > 0.0f ? 1.0f / sum : 0.0f; // a row that sees no key gives 0
  *(uint2 *)&O[row * D + d] = make_uint2(pack_pair<Element>(sums.O.x * factor, sums.O.y * factor),
                                         pack_pair<Element>(sums.O.z * factor, sums.O.w * factor));
  if (lse && d == 0) lse[row] = (sums.max_sum.x * scale_log2 + log2f(sum)) * LN_2;
}

#endif

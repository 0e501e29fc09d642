// Parts of step 18 that steps 19 and 20 take over as they are: how the partial results of splits are merged. Step 18
// explains them.
#ifndef MERGE_CUH
#define MERGE_CUH

#include "kernel.cuh"
#include "ptx.cuh"
#include "splits.cuh"

// A thread's part of a row: 4 columns of O, not yet divided by the sum.
struct partial_row {
  float row_max, row_sum;
  float4 O;
};

// Adds the sums over other keys to those in `a`, both scaled to the larger row max, as the online softmax does.
__device__ __forceinline__ void merge(partial_row &a, const partial_row &b, float scale_log2) {
  const float new_max = fmaxf(a.row_max, b.row_max);
  const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf is not a number
  const float a_factor = exp2_approximate((a.row_max - shift) * scale_log2);
  const float b_factor = exp2_approximate((b.row_max - shift) * scale_log2);
  a.row_max = new_max;
  a.row_sum = a.row_sum * a_factor + b.row_sum * b_factor;
  a.O = make_float4(a.O.x * a_factor + b.O.x * b_factor, a.O.y * a_factor + b.O.y * b_factor,
                    a.O.z * a_factor + b.O.z * b_factor, a.O.w * a_factor + b.O.w * b_factor);
}

static constexpr int MERGE_THREADS = 128;

// One block for each row of O. D / 4 threads hold a row, and groups of so many share the splits. The order of all
// additions is fixed, so the result is the same from launch to launch.
template <typename Element, int D>
__launch_bounds__(MERGE_THREADS) __global__
    void merge_kernel(partial_results partials, Element *O, float *lse, float scale_log2) {
  constexpr int GROUPS = MERGE_THREADS / (D / 4);
  __shared__ partial_row merged[MERGE_THREADS];
  const size_t row = blockIdx.x;
  const int d = threadIdx.x % (D / 4) * 4;
  partial_row sums = {-INFINITY, 0.0f, {0.0f, 0.0f, 0.0f, 0.0f}};
#pragma unroll 4
  for (int split = threadIdx.x / (D / 4); split < partials.splits; split += GROUPS) {
    const size_t from = split * partials.rows + row;
    merge(sums,
          {partials.row_max[from], partials.row_sum[from], *(float4 *)&partials.O[from * D + d]},
          scale_log2);
  }
  merged[threadIdx.x] = sums;
  __syncthreads(); // the sums of all groups are there
  if (threadIdx.x >= D / 4) return;
  for (int group = 1; group < GROUPS; group++)
    merge(sums, merged[group * (D / 4) + threadIdx.x], scale_log2);
  const float factor = sums.row_sum > 0.0f ? 1.0f / sums.row_sum : 0.0f;
  *(uint2 *)&O[row * D + d] = make_uint2(pack_pair<Element>(sums.O.x * factor, sums.O.y * factor),
                                         pack_pair<Element>(sums.O.z * factor, sums.O.w * factor));
  if (lse && d == 0) lse[row] = (sums.row_max * scale_log2 + log2f(sums.row_sum)) * LN_2;
}

#endif

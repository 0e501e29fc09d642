// Parts of step 18 that later steps take over as they are: the formula that merges sums over different keys, for steps 19
// and 20, and the second kernel, for step 19. Step 18 explains them.
// From: 18_split_kv
#ifndef SPLIT_KV_CUH
#define SPLIT_KV_CUH

#include "kernel.cuh"
#include "ptx.cuh"
#include "splits.cuh"

// Adds the sums over other keys to those in `a`, both scaled to the larger row max, as the online softmax does.
__device__ __forceinline__ void merge(partial_row &a, float2 max_sum, float4 O, float scale_log2) {
  const float new_max = fmaxf(a.max_sum.x, max_sum.x);
  const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf is not a number
  const float a_factor = exp2_approximate((a.max_sum.x - shift) * scale_log2);
  const float factor = exp2_approximate((max_sum.x - shift) * scale_log2);
  a.max_sum = make_float2(new_max, a.max_sum.y * a_factor + max_sum.y * factor);
  a.O = make_float4(a.O.x * a_factor + O.x * factor, a.O.y * a_factor + O.y * factor,
                    a.O.z * a_factor + O.z * factor, a.O.w * a_factor + O.w * factor);
}

static constexpr int MERGE_THREADS = 128;

// One block for each row of O. D / 4 threads hold a row, and groups of so many share the splits. The order of all
// additions is fixed, so the result is the same from launch to launch.
template <typename Element, int D>
__launch_bounds__(MERGE_THREADS) __global__
    void merge_kernel(partial_results partials, Element *O, float *lse, float scale_log2) {
  __shared__ float4 O_smem[MERGE_THREADS];
  __shared__ float2 max_sum_smem[MERGE_THREADS];
  const size_t row = blockIdx.x;
  const int d = threadIdx.x % (D / 4) * 4;
  partial_row sums;
#pragma unroll 4
  for (int split = threadIdx.x / (D / 4); split < partials.splits;
       split += MERGE_THREADS / (D / 4)) {
    const size_t from = split * partials.rows + row;
    merge(sums, partials.max_sum[from], *(float4 *)&partials.O[from * D + d], scale_log2);
  }
  O_smem[threadIdx.x] = sums.O;
  max_sum_smem[threadIdx.x] = sums.max_sum;
  __syncthreads(); // the sums of all groups are there
  if (threadIdx.x >= D / 4) return;
  for (int other = threadIdx.x + D / 4; other < MERGE_THREADS; other += D / 4)
    merge(sums, max_sum_smem[other], O_smem[other], scale_log2);
  store_merged<D>(sums, O, lse, row, d, scale_log2);
}

#endif

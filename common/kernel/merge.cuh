// The formula of step 18 that merges sums over different keys of a row. Step 18 explains it.
// From: 18_split_kv
#ifndef MERGE_CUH
#define MERGE_CUH

#include "fragments.cuh"
#include "splits.cuh"

// Adds the sums over other keys to those in `a`, both scaled to the larger row max, as the online softmax does.
__device__ __forceinline__ void merge(partial_row &a, float2 max_sum, float4 O, float scale_log2) {
  const float new_max = fmaxf(a.max_sum.x, max_sum.x);
  const float a_factor = rescaling_factor(a.max_sum.x, new_max, scale_log2);
  const float factor = rescaling_factor(max_sum.x, new_max, scale_log2);
  a.max_sum = make_float2(new_max, a.max_sum.y * a_factor + max_sum.y * factor);
  a.O = make_float4(a.O.x * a_factor + O.x * factor, a.O.y * a_factor + O.y * factor,
                    a.O.z * a_factor + O.z * factor, a.O.w * a_factor + O.w * factor);
}

#endif

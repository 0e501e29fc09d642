// Lanes that diverge, in 8 blocks of 256 threads, which are 64 warps.
#include "case.cuh"

// The halves of a warp go different ways, and load and store in each of them.
static __global__ void branch(const float *in, float *out) {
  const int i = global_index();
  if (threadIdx.x % 32 < 16) {
    for (int n = 0; n < 4; n++) out[i + n * 2048] = in[i + n * 2048] * 2.0f;
  } else {
    for (int n = 4; n < 12; n++) out[i + n * 2048] = in[i + n * 2048] - 1.0f;
  }
}

// Lane i runs the loop i % 4 + 1 times. The compiler cannot know this number, and does not unroll the loop.
static __global__ void loop(const float *in, float *out) {
  const int i = global_index();
  float sum = 0.0f;
#pragma unroll 1
  for (int n = 0; n <= i % 4; n++) sum += in[i + n * 2048];
  out[i] = sum;
}

// The kernels use no shared memory, barriers, tensor cores or copies.
const kernel_case divergence_cases[] = {
    // Half warps: 16 lanes touch 2 sectors. Those of the first load and store 4 times, the others 8.
    {"branch", branch, 8, 256, {768, 1536}, {768, 1536}, NONE, NONE, 0, 0, 0, 64},
    // A quarter of the lanes leaves after each round but the last: 3 divergent branches. Each round still
    // touches all 4 sectors.
    {"loop", loop, 8, 256, {64 * 4, 64 * 16}, {64, 64 * 4}, NONE, NONE, 0, 0, 0, 64 * 3},
    {},
};

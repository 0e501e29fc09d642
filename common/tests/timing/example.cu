// The example of common/timing/README.md: from the first line that is marked to the second.
#include "example.h"
// --- begin
#include "timing/figures.h"
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void double_kernel(float *values) { values[blockIdx.x * 256 + threadIdx.x] *= 2; }

// One launch, on the buffers of number `rotation`.
static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  double_kernel<<<COUNT / 256, 256, 0, stream>>>((float *)context + rotation * COUNT);
  return cudaGetLastError();
}

bool time_it(float *buffers, size_t l2_bytes, error_text *error) {
  static timing_burst bursts[TIMING_MOST_ROUNDS];
  timing_contender mine = {"double_kernel", launch, buffers, bursts, 0, NULL, false};
  timing_plan plan = timing_default_plan();
  plan.rotations = timing_rotations(COUNT * sizeof(float), l2_bytes);
  if (!timing_run(&plan, &mine, 1, NULL, error)) return false;
  const statistics_summary times = timing_figure(&mine).times;
  printf("%.4f ms, 95 %% interval %.4f to %.4f\n", times.median, times.low, times.high);
  return true;
}
// --- end

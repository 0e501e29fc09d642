// What a time holds that no kernel is to blame for: two contenders that stand beside the others.
#ifndef TIMING_FLOOR_H
#define TIMING_FLOOR_H

#include "timing/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

// Names in the samples' files of the two.
#define TIMING_NOTHING      "nothing"
#define TIMING_EMPTY_KERNEL "empty_kernel"

// Nothing between the two events; and a kernel of one thread that does nothing. Both ignore the context.
cudaError_t timing_launch_nothing(void *context, size_t rotation, cudaStream_t stream);
cudaError_t timing_launch_empty_kernel(void *context, size_t rotation, cudaStream_t stream);

// Milliseconds, medians of the runs; NaN where there is none.
typedef struct {
  double nothing;
  double empty_kernel;
  double empty_kernel_graph; // of a launch in a replayed graph
} timing_floor;

timing_floor timing_floor_of(const timing_contender *nothing, const timing_contender *empty_kernel);

// No floor: what was not timed has none.
timing_floor timing_no_floor(void);

#ifdef __cplusplus
}
#endif

#endif

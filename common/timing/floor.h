// Two contenders that measure the overhead in every time, which does not come from the kernel. They are timed
// beside the others.
#ifndef TIMING_FLOOR_H
#define TIMING_FLOOR_H

#include "timing/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

// The files of samples call the two by these names.
#define TIMING_NOTHING      "nothing"
#define TIMING_EMPTY_KERNEL "empty_kernel"

// The first enqueues nothing between the two events; the second a kernel of one thread that does nothing.
// Both ignore the context.
cudaError_t timing_launch_nothing(void *context, size_t rotation, cudaStream_t stream);
cudaError_t timing_launch_empty_kernel(void *context, size_t rotation, cudaStream_t stream);

// The medians of the runs in milliseconds; NaN where there is none.
typedef struct {
  double nothing;
  double empty_kernel;
  double empty_kernel_graph; // of a launch in a replayed graph
} timing_floor;

// Returns the medians of the two contenders, after timing_run has timed them.
timing_floor timing_floor_of(const timing_contender *nothing, const timing_contender *empty_kernel);

// Returns a floor of NaN, for a contender that was not timed.
timing_floor timing_no_floor(void);

#ifdef __cplusplus
}
#endif

#endif

// How long a launch takes on a GPU: warmed up, on a cold cache, contenders in turn. README.md, beside
// this file, says why, and shows the use of it in a few lines.
#ifndef TIMING_H
#define TIMING_H

#include "error/error.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *name; // for errors
  // Enqueues one launch on `stream`, on the buffers of number `rotation`.
  cudaError_t (*launch)(void *context, size_t rotation, cudaStream_t stream);
  void *context;
  double *milliseconds; // out: room for the plan's `samples` times, in the order they were taken
  size_t taken;         // out: how many there are
} timing_contender;

// What reads the time. `start` marks the beginning of what is enqueued next; `stop` marks its end, waits
// for that and tells the time between the two.
typedef struct {
  cudaError_t (*start)(void *context, cudaStream_t stream);
  cudaError_t (*stop)(void *context, cudaStream_t stream, float *milliseconds);
  void *context;
} timing_clock;

typedef struct {
  size_t samples;   // of each contender; 100 is a good number
  size_t warm_up;   // launches of each contender that are not timed
  size_t rotations; // sets of buffers; timing_rotations gives the number, 1 for a warm L2
  // Seconds that a contender's samples may take, and its warm-up a tenth of that: a slow contender takes
  // fewer of both, yet at least `least_samples`, and one launch to warm up. 0 sets no limit.
  double seconds;
  size_t least_samples;
  const timing_clock *clock; // NULL for CUDA events
} timing_plan;

// 100 samples after 10 launches to warm up, on one set of buffers, without a limit.
timing_plan timing_default_plan(void);

// Sets of buffers, each of `bytes`, that together hold at least twice the L2 cache: 1 to 64.
size_t timing_rotations(size_t bytes, size_t l2_bytes);

// Times all contenders interleaved, each until it has all its samples or its seconds are used up; the
// others go on in turn. False with a sentence when a launch fails.
bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error);

#ifdef __cplusplus
}
#endif

#endif

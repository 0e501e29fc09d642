// How long a launch takes on a GPU: CUDA events around each launch, contenders in turn.
//
// Events are stamped by the GPU itself, so neither the launch call nor the host's wake-up counts.
// The first launches are thrown away: they load code and raise the clocks. Between two samples of
// one contender the buffers rotate, so that no launch finds its inputs in the L2 cache by courtesy
// of the one before. Contenders take turns (A B A B ...), so that a GPU that slows down as it heats
// slows all of them. Judge by the median: launch times have a tail on one side.
#ifndef TIMING_H
#define TIMING_H

#include "error/error.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct {
  const char *name; // for the progress line and errors
  // Enqueues one launch on `stream`, on the buffers of number `rotation`.
  cudaError_t (*launch)(void *context, size_t rotation, cudaStream_t stream);
  void *context;
  double *milliseconds; // out: `samples` times, in the order they were taken
} timing_contender;

typedef struct {
  size_t samples;   // of each contender; 100 is a good number
  size_t warm_up;   // launches of each contender that are not timed
  size_t rotations; // sets of buffers; timing_rotations gives the number, 1 for a warm L2
} timing_plan;

// Sets of buffers, each of `bytes`, that together hold at least twice the L2 cache: 1 to 64.
size_t timing_rotations(size_t bytes, size_t l2_bytes);

// Times all contenders interleaved. False with a sentence when a launch fails.
bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error);

#endif

// How long steps take on the problem of a trial: the buffers that timing needs, around timing_run.
#ifndef MEASURE_H
#define MEASURE_H

#include "timing/timing.h"
#include "trial/trial.h"

// As a timing_plan; what that says of a contender holds for a step.
typedef struct {
  size_t samples;
  size_t warm_up;
  double seconds;
  size_t least_samples;
  size_t l2_bytes;           // the cache that every launch shall find cold; 0 to leave it warm
  const timing_clock *clock; // NULL for CUDA events
} measure_plan;

// Times the steps in turn on the uploaded inputs of the trial and writes `milliseconds`
// [count][plan->samples], each step's samples in the order they were taken, and `taken` [count], how
// many those are: all, unless the plan sets a limit of seconds. Every step must take the trial's shape
// (trial_supported); whether its results are right is trial_check's matter. Meaningful on a GPU only.
// False with a sentence when memory runs out or a launch fails.
//
// Every launch, whichever step it is of, takes the next of several copies of Q, K, V, O and lse, which
// together hold twice the L2 cache. All share the trial's workspace, grown to what the neediest step
// asks for: a step writes its workspace before it reads it.
bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, double *milliseconds, size_t *taken,
                   error_text *error);

// Bytes of device memory that the copies of the trial's tensors take.
size_t measure_copies_bytes(const trial *trial, size_t l2_bytes);

#endif

// How long steps take on the problem of a trial: the buffers that timing needs, around timing_run.
#ifndef MEASURE_H
#define MEASURE_H

#include "trial/trial.h"

typedef struct {
  size_t samples;  // of each step
  size_t warm_up;  // launches of each step that are not timed
  size_t l2_bytes; // the cache that every launch shall find cold; 0 to leave it warm
} measure_plan;

// Times the steps in turn on the uploaded inputs of the trial and writes `milliseconds`
// [count][plan->samples], each step's samples in the order they were taken. Every step must take the
// trial's shape (trial_supported); whether its results are right is trial_check's matter. Meaningful
// on a GPU only. False with a sentence when memory runs out or a launch fails.
//
// Every launch, whichever step it is of, takes the next of several copies of Q, K, V, O and lse, which
// together hold twice the L2 cache. All share the trial's workspace, grown to what the neediest step
// asks for: a step writes its workspace before it reads it.
bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, double *milliseconds, error_text *error);

#endif

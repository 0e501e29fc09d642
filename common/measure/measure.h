// How long steps take on the problem of a trial: the buffers that timing needs, around timing_run.
#ifndef MEASURE_H
#define MEASURE_H

#include "timing/figures.h"
#include "timing/floor.h"
#include "trial/trial.h"

typedef struct {
  timing_plan timing; // its rotations are set here
  size_t l2_bytes;    // the cache that every launch shall find cold; 0 to leave it warm
} measure_plan;

// The default plan, with `rounds` of each step where that is not 0, and so many launches to warm up.
measure_plan measure_plan_make(size_t rounds, size_t warm_up, size_t l2_bytes);

// The steps, in their order, then the two of timing/floor.h.
enum { MEASURE_NOTHING, MEASURE_EMPTY_KERNEL, MEASURE_FLOORS };

typedef struct measured_steps {
  size_t count;                 // of the steps
  timing_contender *contenders; // [count + MEASURE_FLOORS]; what they launch is there no longer
  timing_burst *bursts;         // of all contenders
} measured_steps;

// Times the steps on the uploaded inputs of the trial, and what a time holds beside them. Every step must
// take the trial's shape (trial_supported); whether its results are right is trial_check's matter.
// Meaningful on a GPU only. False with a sentence when memory runs out or a launch fails; the result is
// to be freed in any case.
//
// Every launch, whichever step it is of, takes the next of several copies of Q, K, V, O and lse, which
// without it hold twice the L2 cache. All share the trial's workspace, grown to what the neediest step asks
// for: a step writes its workspace before it reads it.
bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, measured_steps *measured, error_text *error);
void measured_steps_free(measured_steps *measured);

// Of the run: the time of an empty kernel, and of nothing.
timing_floor measured_steps_floor(const measured_steps *measured);

// Bytes of device memory that the copies of the trial's tensors take.
size_t measure_copies_bytes(const trial *trial, size_t l2_bytes);

#endif

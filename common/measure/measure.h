// Measures how long steps take on the problem of a trial. It prepares the buffers and calls timing_run.
#ifndef MEASURE_H
#define MEASURE_H

#include "timing/figures.h"
#include "timing/floor.h"
#include "trial/trial.h"

typedef struct {
  timing_plan timing; // its rotations are set here
  size_t l2_bytes;    // the cache that every launch shall find cold; 0 to leave it warm
} measure_plan;

// Returns the default plan with so many launches to warm up, and with `rounds` rounds of each step where that
// is not 0.
measure_plan measure_plan_make(size_t rounds, size_t warm_up, size_t l2_bytes);

// The contenders are the steps, in their order, then the two of timing/floor.h.
enum { MEASURE_NOTHING, MEASURE_EMPTY_KERNEL, MEASURE_FLOORS };

typedef struct measured_steps {
  size_t count;                 // of the steps
  timing_contender *contenders; // [count + MEASURE_FLOORS]; what they launch is there no longer
  timing_burst *bursts;         // of all contenders
  check_result *checks;         // [count], for measured_steps_check
  bool launch_failed;           // a launch did while they were timed, which is the step's fault
} measured_steps;

// Times the steps on the uploaded inputs of the trial, and the overhead that every time contains. Every step
// must take the trial's shape (trial_supported); trial_check and trial_check_o_alone tell whether its results are
// right. The launches ask for O alone, without lse, as inference does. The times
// mean something on a GPU only. Returns false with a sentence when memory runs out or a launch fails; the
// result must be freed in any case.
//
// Every launch of any step takes the next of several copies of Q, K, V and O. The other copies together
// are twice as large as the L2 cache. All steps share the trial's workspace, which grows to the largest size
// that a step asks for, because a step writes its workspace before it reads it.
bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, measured_steps *measured, error_text *error);
// Tells whether nothing was found wrong with step number `step` once it had been timed. A step may be right when it is
// checked, and do less in the launches after that; so measure_steps has run it again, for O alone and on the sets of
// tensors in a row, and has checked O (review.h). All steps share the workspace, so a write outside it that was found
// after all launches is laid to each of them. `result` is that of trial_check, and keeps the larger error of O. Returns
// false with result->message set when something was wrong.
bool measured_steps_check(const measured_steps *measured, size_t step, check_result *result);

void measured_steps_free(measured_steps *measured);

// Returns the times of an empty kernel and of nothing in this run.
timing_floor measured_steps_floor(const measured_steps *measured);

// Returns how many bytes of device memory the copies of the trial's tensors take.
size_t measure_copies_bytes(const trial *trial, size_t l2_bytes);

#endif

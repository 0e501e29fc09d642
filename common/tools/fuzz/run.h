// Runs problems in a separate process, so that a crash or an endless loop is a finding too.
#ifndef RUN_H
#define RUN_H

#include "fuzz/problem.h"

typedef enum {
  RUN_PASSED, // all of them that the step takes
  RUN_FAILED, // one is wrong, crashes or hangs
  RUN_UNABLE, // nothing could be found out: no memory, no device, no process
  RUN_REFUSED // the step cannot take this one; no verdict on several
} run_verdict;

typedef struct {
  run_verdict verdict;
  size_t done;          // problems that passed or were refused; the one that failed comes next
  size_t refused;       // of these, how many the step cannot take
  fuzz_problem problem; // the last one that was begun, which is the one that failed
  error_text
      message; // what went wrong, or else why the last refused one was; empty unless there is one
} run_outcome;

// Runs problems number `first` to first + count - 1 of a seed (problem_random) in turn, until one fails or, after
// `seconds`, when the next would begin. With `quiet` the device's messages about a fault are not shown. The child of a
// process that has used CUDA cannot use it. So the caller must not have used the device, and the child makes the problems
// as well, because a step may ask the device which of them it takes.
run_outcome run_random(const attention_step *step, uint64_t seed, uint64_t first, size_t count,
                       double seconds, bool quiet);

// Runs this problem, in the same way.
run_outcome run_problem(const attention_step *step, const fuzz_problem *problem, bool quiet);

// Returns the seconds of a clock that only goes forward.
double run_seconds(void);

#endif

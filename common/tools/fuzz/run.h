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
  size_t done;    // problems that passed or were refused; the one that failed comes next
  size_t refused; // of these, how many the step cannot take
  error_text
      message; // what went wrong, or else why the last refused one was; empty unless there is one
} run_outcome;

// Runs the problems in turn until one fails or, after `seconds`, when the next would begin. With `quiet` the
// device's messages about a fault are not shown. The caller must not have used the device itself, because a
// child cannot share it.
run_outcome run_problems(const attention_step *step, const fuzz_problem *problems, size_t count,
                         double seconds, bool quiet);

// Returns the seconds of a clock that only goes forward.
double run_seconds(void);

#endif

// Runs problems in a separate process, so that a crash or an endless loop is a finding too.
#ifndef RUN_H
#define RUN_H

#include "fuzz/problem.h"

typedef enum {
  RUN_PASSED, // all of them; also those that the step cannot take
  RUN_FAILED, // one is wrong, crashes or hangs
  RUN_UNABLE  // nothing could be found out: no memory, no device, no process
} run_verdict;

typedef struct {
  run_verdict verdict;
  size_t done;        // problems that passed; the one that failed comes next
  error_text message; // unless all passed
} run_outcome;

// Runs the problems in turn until one fails or, after `seconds`, when the next would begin. With `quiet` the
// device's messages about a fault are not shown. The caller must not have used the device itself, because a
// child cannot share it.
run_outcome run_problems(const attention_step *step, const fuzz_problem *problems, size_t count,
                         double seconds, bool quiet);

// Returns the seconds of a clock that only goes forward.
double run_seconds(void);

#endif

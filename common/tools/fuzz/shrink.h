// From a problem that fails to a small and plain one that still does.
#ifndef SHRINK_H
#define SHRINK_H

#include "fuzz/run.h"

typedef struct {
  fuzz_problem problem; // fails, and nothing that is left to make smaller about it fails too
  error_text message;
  size_t tries;
} shrink_result;

// `problem` fails with `message`. Halves sizes, then takes one off; drops the mask, grouped heads, the
// second type, unusual inputs and scales, configuration and order of threads: whatever is not needed for
// a failure of any kind. Greedy, as QuickCheck's shrinking (Claessen and Hughes, 2000), and bounded.
shrink_result shrink(const attention_step *step, const fuzz_problem *problem,
                     const error_text *message);

#endif

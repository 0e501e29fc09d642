// Turns a problem that fails into a small and simple one that still fails.
#ifndef SHRINK_H
#define SHRINK_H

#include "fuzz/run.h"

typedef struct {
  fuzz_problem problem; // fails, and no further change that was tried still fails
  error_text message;
  size_t tries;
} shrink_result;

// `problem` fails with `message`. The function halves sizes, then takes one off. It drops the mask, grouped
// heads, the second type, unusual inputs and scales, the configuration, the order of threads, and the wish for
// O alone, if the problem still fails in any way without them. The search is greedy, like QuickCheck's shrinking
// (Claessen and Hughes, 2000), and ends after 400 tries.
shrink_result shrink(const attention_step *step, const fuzz_problem *problem,
                     const error_text *message);

#endif

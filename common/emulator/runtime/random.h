// The generator behind the shuffled order of threads.
#ifndef EMULATOR_RANDOM_H
#define EMULATOR_RANDOM_H

#include "numeric/random.h"

// From 0 to limit - 1; limit is at most 2^32.
static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
  return (random_next(state) >> 32) * limit >> 32;
}

// A state that depends on all three values: a block's order is the same whichever worker runs it.
static inline uint64_t random_start(uint64_t seed, uint64_t launch, uint64_t block) {
  uint64_t state = seed;
  state = random_next(&state) + launch;
  state = random_next(&state) + block;
  return random_next(&state);
}

#endif

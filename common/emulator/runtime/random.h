// The generator behind the shuffled order of threads: splitmix64 (Steele, Lea and Flood, "Fast
// Splittable Pseudorandom Number Generators", OOPSLA 2014).
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

// From 0 to limit - 1; limit is at most 2^32.
static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
  return (random_next(state) >> 32) * limit >> 32;
}

// A state that depends on all three, so that a block's order does not depend on who runs it.
static inline uint64_t random_start(uint64_t seed, uint64_t launch, uint64_t block) {
  uint64_t state = seed;
  state = random_next(&state) + launch;
  state = random_next(&state) + block;
  return random_next(&state);
}

#endif

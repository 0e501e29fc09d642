// Random numbers that are the same everywhere.
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

// The method is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figure
// 10). Its state grows by the same number each time.
#define RANDOM_STRIDE 0x9e3779b97f4a7c15u

// Returns the 64 random bits that random_next gives when it is called for the time `index`, from 0 on, with a state that
// began with `seed`. So any of them can be had without those before it.
static inline uint64_t random_at(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * RANDOM_STRIDE;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Returns the next 64 random bits after `*state`, which may begin with any number.
static inline uint64_t random_next(uint64_t *state) {
  const uint64_t bits = random_at(*state, 0);
  *state += RANDOM_STRIDE;
  return bits;
}

#endif

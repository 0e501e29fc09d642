// Random numbers that are the same everywhere.
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

// Returns the next 64 random bits after `*state`, which may begin with any number. The method is SplitMix64
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#endif

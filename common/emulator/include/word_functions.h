// Stand-in for the PTX of common/kernel/words.cuh, which describes the functions. It has no access of 16 bytes. So the
// half with the mark is stored last and loaded first. A thread that sees the mark then sees the rest of the word as well.
// Atomic functions let other threads run while one polls.
#ifndef WORD_FUNCTIONS_H
#define WORD_FUNCTIONS_H

#include "cuda_runtime.h"

__forceinline__ void store_word(marked_word *to, const marked_word &word) {
  unsigned long long half[2];
  (__builtin_memcpy)(half, &word, sizeof half);
  unsigned long long *address = reinterpret_cast<unsigned long long *>(to);
  atomicExch(address, half[0]);
  atomicExch(address + 1, half[1]);
}

__forceinline__ marked_word load_word(const marked_word *from) {
  unsigned long long *address =
      reinterpret_cast<unsigned long long *>(const_cast<marked_word *>(from));
  unsigned long long half[2];
  half[1] = atomicAdd(address + 1, 0ull);
  half[0] = atomicAdd(address, 0ull);
  marked_word word;
  (__builtin_memcpy)(&word, half, sizeof word);
  return word;
}

#endif

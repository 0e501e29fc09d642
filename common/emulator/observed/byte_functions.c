// What memcpy, memmove and memset of kernels read and write (include/detail/byte_functions.h).
#define _GNU_SOURCE
#include "observer.h"

#include <string.h>

#define CALLER __builtin_return_address(0)

// These functions take any address. An access of 16 bytes or fewer is one of an instruction to the observer, and must be
// aligned, so it hears of pieces that are.
static void announce(const void *memory, size_t bytes, observed_kind kind, const void *pc) {
  const uintptr_t address = (uintptr_t)memory, bits = address | bytes;
  const size_t piece = bytes > 16 ? bytes : bits & -bits;
  for (size_t done = 0; done < bytes; done += piece)
    observer_access(address + done, piece, kind, pc);
}

EMULATOR_API void *emulator_memcpy(void *to, const void *from, size_t bytes) {
  announce(from, bytes, OBSERVED_READ, CALLER);
  announce(to, bytes, OBSERVED_WRITE, CALLER);
  return memcpy(to, from, bytes);
}

EMULATOR_API void *emulator_memmove(void *to, const void *from, size_t bytes) {
  announce(from, bytes, OBSERVED_READ, CALLER);
  announce(to, bytes, OBSERVED_WRITE, CALLER);
  return memmove(to, from, bytes);
}

EMULATOR_API void *emulator_memset(void *to, int value, size_t bytes) {
  announce(to, bytes, OBSERVED_WRITE, CALLER);
  return memset(to, value, bytes);
}

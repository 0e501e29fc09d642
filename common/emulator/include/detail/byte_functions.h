// memcpy, memmove and memset in kernels, for the modes that watch accesses. The compiler's instrumentation leaves out what
// these functions read and write, so they tell the observer themselves (observed/byte_functions.c). The stand-in headers
// call __builtin_memcpy, because they only look at the bits of their own variables.
#ifndef EMULATOR_DETAIL_BYTE_FUNCTIONS_H
#define EMULATOR_DETAIL_BYTE_FUNCTIONS_H

#ifdef __SANITIZE_THREAD__

#include <string.h>

extern "C" {
void *emulator_memcpy(void *to, const void *from, size_t bytes);
void *emulator_memmove(void *to, const void *from, size_t bytes);
void *emulator_memset(void *to, int value, size_t bytes);

// Such a definition only replaces calls, as in the C library's own header for -D_FORTIFY_SOURCE.
#define EMULATOR_IN_PLACE extern inline __attribute__((always_inline, gnu_inline))
EMULATOR_IN_PLACE void *memcpy(void *to, const void *from, size_t bytes) noexcept {
  return emulator_memcpy(to, from, bytes);
}
EMULATOR_IN_PLACE void *memmove(void *to, const void *from, size_t bytes) noexcept {
  return emulator_memmove(to, from, bytes);
}
EMULATOR_IN_PLACE void *memset(void *to, int value, size_t bytes) noexcept {
  return emulator_memset(to, value, bytes);
}
#undef EMULATOR_IN_PLACE
}

#endif
#endif

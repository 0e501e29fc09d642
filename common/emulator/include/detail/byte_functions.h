// memcpy, memmove and memset in kernels, for the modes that watch accesses. The compiler's instrumentation leaves out what
// these functions read and write, so they tell the observer themselves (observed/byte_functions.c). libstdc++ has the
// compiler's own names for them, as in std::copy, so these are replaced, too. cuda_runtime.h includes this header first,
// so that it comes before libstdc++'s. The stand-in headers write (__builtin_memcpy), which is no use of the macro,
// because they only look at the bits of their own variables.
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

// A call of a builtin function can be part of a constant, and so can a call of what stands in for it.
namespace emulator {
#define EMULATOR_BUILTIN(name, Other)                                                              \
  constexpr inline __attribute__((always_inline)) void *builtin_##name(void *to, Other other,      \
                                                                       size_t bytes) noexcept {    \
    return __builtin_is_constant_evaluated() ? __builtin_##name(to, other, bytes)                  \
                                             : emulator_##name(to, other, bytes);                  \
  }
EMULATOR_BUILTIN(memcpy, const void *)
EMULATOR_BUILTIN(memmove, const void *)
EMULATOR_BUILTIN(memset, int)
#undef EMULATOR_BUILTIN
} // namespace emulator
#define __builtin_memcpy(...)  ::emulator::builtin_memcpy(__VA_ARGS__)
#define __builtin_memmove(...) ::emulator::builtin_memmove(__VA_ARGS__)
#define __builtin_memset(...)  ::emulator::builtin_memset(__VA_ARGS__)

#endif
#endif

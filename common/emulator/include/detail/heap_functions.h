// malloc, free, new and delete in kernels, for the modes that watch accesses: the memory that they give is device memory to
// the observer (observed/heap.c). Host code has the functions that it would have without this header, its own ones too.
#ifndef EMULATOR_DETAIL_HEAP_FUNCTIONS_H
#define EMULATOR_DETAIL_HEAP_FUNCTIONS_H

#ifdef __SANITIZE_THREAD__

#include "emulator.h"

#include <new>
#include <stdlib.h>

extern "C" {
void *emulator_heap_take(size_t bytes);
bool emulator_heap_give(void *memory); // false when it is not of the heap

// The functions of the host, which have the names of the linker.
void *emulator_host_malloc(size_t bytes) __asm__("malloc");
void emulator_host_free(void *memory) __asm__("free");
void *emulator_host_new(size_t bytes) __asm__("_Znwm");
void *emulator_host_new_array(size_t bytes) __asm__("_Znam");
void emulator_host_delete(void *memory) __asm__("_ZdlPv");
void emulator_host_delete_array(void *memory) __asm__("_ZdaPv");
}

// Such definitions only replace calls, as those of byte_functions.h do.
#define EMULATOR_TAKE(name, host, ...)                                                             \
  extern inline __attribute__((always_inline, gnu_inline)) void *name(size_t bytes) __VA_ARGS__ {  \
    return emulator_current != nullptr ? emulator_heap_take(bytes) : host(bytes);                  \
  }
#define EMULATOR_GIVE(name, host, ...)                                                             \
  extern inline __attribute__((always_inline, gnu_inline)) void name(__VA_ARGS__) noexcept {       \
    if (emulator_current == nullptr || !emulator_heap_give(memory)) host(memory);                  \
  }
extern "C" {
EMULATOR_TAKE(malloc, emulator_host_malloc, noexcept)
EMULATOR_GIVE(free, emulator_host_free, void *memory)
}
EMULATOR_TAKE(operator new, emulator_host_new)
EMULATOR_TAKE(operator new[], emulator_host_new_array)
EMULATOR_GIVE(operator delete, emulator_host_delete, void *memory)
EMULATOR_GIVE(operator delete, emulator_host_delete, void *memory, size_t)
EMULATOR_GIVE(operator delete[], emulator_host_delete_array, void *memory)
EMULATOR_GIVE(operator delete[], emulator_host_delete_array, void *memory, size_t)
#undef EMULATOR_TAKE
#undef EMULATOR_GIVE

#endif
#endif

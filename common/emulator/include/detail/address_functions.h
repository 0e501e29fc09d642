// Address spaces (CUDA C++ Programming Guide, "Address Space Predicate Functions" and "Address Space
// Conversion Functions").
#ifndef EMULATOR_DETAIL_ADDRESS_FUNCTIONS_H
#define EMULATOR_DETAIL_ADDRESS_FUNCTIONS_H

#include "emulator.h"

// Convert a pointer to the 32-bit address that instructions on shared memory take, and back.
inline size_t __cvta_generic_to_shared(const void *pointer) {
  return emulator_shared_address(pointer);
}
inline void *__cvta_shared_to_generic(size_t address) { return emulator_shared_pointer(address); }

// A generic address of global memory is its address there, as on a GPU.
inline size_t __cvta_generic_to_global(const void *pointer) {
  return reinterpret_cast<size_t>(pointer);
}
inline void *__cvta_global_to_generic(size_t address) { return reinterpret_cast<void *>(address); }

inline unsigned __isShared(const void *pointer) { return emulator_is_shared(pointer); }

#endif

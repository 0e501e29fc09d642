// Conditions of the preprocessor that depend on __CUDA_ARCH__. Where a file is rewritten before the preprocessor reads it,
// host and device code are compiled in one pass without __CUDA_ARCH__, so the device's branch of such a condition
// is left out.
#ifndef ARCH_CONDITION_H
#define ARCH_CONDITION_H

#include "emulator/rewrite/source.h"

// Is the condition of this #if, #elif, #ifdef or #ifndef, whose # is the token at `directive`, another one for device code
// than without __CUDA_ARCH__? False as well where that depends on other macros.
bool arch_condition_differs(const source *file, size_t directive);

#endif

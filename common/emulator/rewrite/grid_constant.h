// Parameters that a kernel's threads share: const __grid_constant__ T name.
#ifndef GRID_CONSTANT_H
#define GRID_CONSTANT_H

#include "emulator/rewrite/source.h"

// Takes the `__grid_constant__` at the token `word` away from a kernel's parameter, and puts at the beginning of the body
//   ::emulator::grid_constant(name);
// which tells the runtime that the parameter is no copy of the thread's own (runtime/map_place.h). In a macro or a
// declaration without the body there is nothing to tell; in a macro the word stays.
void grid_constant_rewrite(source *file, size_t word);

#endif

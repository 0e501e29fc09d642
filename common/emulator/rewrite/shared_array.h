// Dynamic shared memory: extern __shared__ float smem[];
#ifndef SHARED_ARRAY_H
#define SHARED_ARRAY_H

#include "emulator/rewrite/source.h"

// Looks at the declaration around the `__shared__` token at `shared`, which begins at the token
// `statement` or behind a label in front of it. If it is extern, rewrites it into
//   float (&smem)[] = *reinterpret_cast<float (*)[]>(::emulator::dynamic_shared_memory());
// In a preprocessed file it may also have a size, or be no array: then it is an ordinary shared variable, as for nvcc.
// Alignment specifiers become its template arguments, dynamic_shared_memory<16>(), since the emulator aligns
// the memory. Fails, with path and line, outside a function, for a form that the lab does not know, and for a variable
// that has an initial value.
bool shared_array_rewrite(source *file, size_t statement, size_t shared, bool in_function,
                          error_text *error);

#endif

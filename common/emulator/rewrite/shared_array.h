// Dynamic shared memory: extern __shared__ float smem[];
#ifndef SHARED_ARRAY_H
#define SHARED_ARRAY_H

#include "emulator/rewrite/source.h"

// Looks at the declaration around the `__shared__` token at `shared`, which begins at the token
// `statement` or behind a label in front of it. If it is extern, rewrites it into
//   float (&smem)[] = *reinterpret_cast<float (*)[]>(::emulator::dynamic_shared_memory());
// Alignment specifiers become template arguments of that function, dynamic_shared_memory<16>(): a reference
// takes none, and it is the emulator that aligns the memory. Fails, with path and line, for an extern one outside a function or with a form the lab does not know.
bool shared_array_rewrite(source *file, size_t statement, size_t shared, bool in_function,
                          error_text *error);

#endif

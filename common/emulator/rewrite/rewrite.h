// Turns a CUDA source file into C++ that g++ compiles for the emulator. Five parts of
// CUDA are not C++: kernel<<<grid, block>>>(...) (see launch.h), dynamic shared memory (see
// shared_array.h), the clusters of a kernel (see cluster_dims.h), parameters that its threads share (see
// grid_constant.h) and inline PTX (see inline_ptx.h). All other text is copied byte for byte, and line numbers stay.
#ifndef REWRITE_H
#define REWRITE_H

#include "emulator/rewrite/text_buffer.h"
#include "error/error.h"

#include <stdbool.h>

// Appends the rewritten text to `out`, after a #line directive that makes the compiler report `path`. A file with inline
// PTX includes detail/ptx.h before that. PTX in a macro, or that cannot be read, becomes a static_assert that says so.
// When it fails, it leaves `out` as it was and says "path:line: what is wrong and what to do".
bool rewrite_source(const char *path, const char *text, size_t length, text_buffer *out,
                    error_text *error);

// The same for what `g++ -E` makes of a source: the text of all its headers, with macros expanded. So launches in
// headers are rewritten as well, and their inline PTX, and template arguments of a launch are deduced and default
// arguments are filled in (see kernel_twin.h). Lines keep the names that the preprocessor gives.
bool rewrite_preprocessed(const char *path, const char *text, size_t length, text_buffer *out,
                          error_text *error);

// The same for a module, which a program loads (cuModuleLoadData): each kernel tells the emulator its parameters.
bool rewrite_module(const char *path, const char *text, size_t length, text_buffer *out,
                    error_text *error);

#endif

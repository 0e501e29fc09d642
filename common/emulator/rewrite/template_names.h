// The names of a template's parameters, which are its arguments where it names itself.
#ifndef TEMPLATE_NAMES_H
#define TEMPLATE_NAMES_H

#include "emulator/rewrite/source.h"

// Appends the names of the parameters behind the < at `open`, with commas between: "T, N, F, Ts..." for
// `typename T, int N = 4, T (*F)(T), typename... Ts`. Returns the closing >, NO_TOKEN where it cannot be read.
size_t template_append_names(const source *file, size_t open, text_buffer *out);

#endif

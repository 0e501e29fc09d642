// The text of an asm statement as C++, see inline_ptx.h.
#ifndef PTX_TEXT_H
#define PTX_TEXT_H

#include "emulator/rewrite/text_buffer.h"

#include <stdbool.h>

// Appends the instructions as calls, on one line. `operands` is how many %0, %1, ... the statement has. Fails with a
// sentence for what the emulator lacks.
bool ptx_translate(const char *text, size_t length, size_t operands, text_buffer *out,
                   error_text *error);

#endif

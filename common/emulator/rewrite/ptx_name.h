// The names of PTX instructions and of their types, as those of the functions of include/detail/ptx/.
#ifndef PTX_NAME_H
#define PTX_NAME_H

#include "emulator/rewrite/text_buffer.h"

#include <stdbool.h>

// Appends a register's name as an identifier of C++.
void ptx_write_word(text_buffer *out, const char *word, size_t length);

// Is the word a type, such as u32?
bool ptx_is_type(const char *word, size_t length);

// Appends name<type, type> for mnemonic.modifier.type, which stands from `name` to `end`; `unpacks` is for a mov to
// { a, b }. Fails for an instruction that the emulator lacks.
bool ptx_write_name(const char *name, const char *end, bool unpacks, text_buffer *out,
                    error_text *error);

#endif

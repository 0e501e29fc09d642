// Parameters of type auto, each of which is a parameter of a template without a name (C++20). The twin of a kernel gives them
// names, because it needs the kernel's template arguments.
#ifndef AUTO_PARAMETERS_H
#define AUTO_PARAMETERS_H

#include "emulator/rewrite/text_buffer.h"

#include <stdbool.h>

bool auto_parameters_are_in(const text_buffer *parameters);

// Appends the text of the parameters with names in place of auto: "(emulator_auto_0 *x, emulator_auto_1... rest)" for
// "(auto *x, auto... rest)". To `declared` it appends "typename emulator_auto_0, typename... emulator_auto_1", and to
// `arguments` "emulator_auto_0, emulator_auto_1...", both behind a comma if they are not empty.
void auto_parameters_name(const text_buffer *parameters, text_buffer *named, text_buffer *declared,
                          text_buffer *arguments);

#endif

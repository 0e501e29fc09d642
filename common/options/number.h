// Reads numbers on a command line. The whole word must be the number, and it must be in range.
#ifndef NUMBER_H
#define NUMBER_H

#include "error/error.h"
#include <stdint.h>

// Reads a whole number from `least` to `most`. The sentence of a failure calls it `name`, such as
// "--seq".
bool number_parse_integer(const char *name, const char *text, int64_t least, int64_t most,
                          int64_t *value, error_text *error);

// Reads a whole number of 64 bits, such as a seed, from 0 to 18446744073709551615.
bool number_parse_unsigned(const char *name, const char *text, uint64_t *value, error_text *error);

// Reads a finite float32, such as 0.125 or 1e-2.
bool number_parse_float(const char *name, const char *text, float *value, error_text *error);

#endif

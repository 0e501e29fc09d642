// For tests: the example of common/timing/README.md.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "error/error.h"
#include <stddef.h>

enum { COUNT = 1 << 14 }; // numbers in a buffer

#ifdef __cplusplus
extern "C" {
#endif
bool time_it(float *buffers, size_t l2_bytes, error_text *error);
#ifdef __cplusplus
}
#endif

#endif

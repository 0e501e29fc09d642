// The end of a noun behind a number, in a sentence such as "1 byte past the end" or "2 bytes past the end".
#ifndef PLURAL_H
#define PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

#endif

// How much static shared memory a kernel has.
#ifndef STATIC_SHARED_H
#define STATIC_SHARED_H

#include <stddef.h>

// Bytes of the `__shared__` variables declared inside the kernel, each rounded up to 16. Those of
// functions that the kernel calls are not counted. 0 when its module has been stripped of symbols.
size_t static_shared_bytes(const void *kernel);

#endif

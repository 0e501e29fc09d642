// What the host has set for a kernel.
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stddef.h>

// Bytes of dynamic shared memory a launch of the kernel may ask for.
size_t function_dynamic_shared_limit(const void *kernel);

#endif

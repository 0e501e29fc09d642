// What is known of a kernel: its static shared memory and what the host has set.
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stddef.h>

// Bytes of dynamic shared memory a launch of the kernel may ask for: what cudaFuncSetAttribute set,
// otherwise what its static shared memory leaves of 48 KiB.
size_t function_dynamic_shared_limit(const void *kernel);

#endif

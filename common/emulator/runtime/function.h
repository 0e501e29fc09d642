// The attributes of a kernel: its static shared memory, and the values that the host has set.
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stddef.h>

// The most bytes of dynamic shared memory that a launch of the kernel may ask for: the value that
// cudaFuncSetAttribute set, otherwise the part of 48 KiB that its static shared memory leaves.
size_t function_dynamic_shared_limit(const void *kernel);

#endif

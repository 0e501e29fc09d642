// The process that calls CUDA. On a GPU the child of a fork() cannot use CUDA if its parent has called it before: each
// call fails with cudaErrorInitializationError.
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

// Notes that the process calls CUDA. Returns true in a child as above; the first time it prints a sentence about it.
bool process_too_late(void);

#endif

// Shared memory of the block that a worker runs.
//
// Static: `__shared__` variables are thread-local variables of the module (program or shared
// object) that holds the kernel, so that each worker has its own. Dynamic: a mapping per worker
// that ends at a guard. Both are filled with 0xFF bytes, NaN in every format, before each block:
// what a kernel reads without having written it shows in its results.
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include "block.h"

// Maps the worker's dynamic shared memory. False when the operating system gives none.
bool shared_memory_create(worker *worker);

// Finds the module of the launch's kernel and how much thread-local memory it has.
void shared_memory_find_module(launch *launch);

// Sets the worker's pointers for its launch.
void shared_memory_prepare(worker *worker);

// Fills both kinds.
void shared_memory_poison(worker *worker);

// Whether the address is in the guard after dynamic shared memory.
bool shared_memory_overrun(const worker *worker, uintptr_t address);

#endif

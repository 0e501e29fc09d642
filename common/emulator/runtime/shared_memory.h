// The shared memory of the block that a worker runs.
//
// Static: `__shared__` variables are thread-local variables of the module (program or
// shared object) that holds the kernel, so that each worker has its own. Dynamic: each
// worker has a mapping that ends at a guard. Both are filled with poison, NaN in every
// format, before each block, so that a read before any write shows in the kernel's results.
//
// CUDA promises that dynamic shared memory is aligned to 16 bytes, or as the kernel declares, and no
// more. On a GPU it usually lies at a multiple of 1024 all the same; here it lies at an odd multiple
// of the promised alignment, which changes from launch to launch, so that a kernel that needs more
// fails. This leaves a gap before the guard, which must still hold 0xFF bytes when a block ends.
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include "block.h"

// Maps the worker's dynamic shared memory. False when the operating system gives none.
bool shared_memory_create(worker *worker);

// Finds the module of the launch's kernel and the size of its thread-local memory.
void shared_memory_find_module(launch *launch);

// Chooses where the launch's dynamic shared memory begins, for all its blocks.
void shared_memory_choose_place(launch *launch);

// Sets the worker's pointers for its launch.
void shared_memory_prepare(worker *worker);

// Fills both kinds.
void shared_memory_poison(worker *worker);

// The first byte behind the end of dynamic shared memory that the block has written, counted
// from the beginning of that memory; 0 when it has written none. Call it when a block has ended.
size_t shared_memory_written_behind(const worker *worker);

// Whether the address is in dynamic shared memory, in the gap behind it, or in the guard.
bool shared_memory_holds(const worker *worker, uintptr_t address);

// Sets who may access the mapping of dynamic shared memory, as mprotect does.
void shared_memory_protect(const worker *worker, int protection);

// Whether the address is in the guard after dynamic shared memory.
bool shared_memory_overrun(const worker *worker, uintptr_t address);

#endif

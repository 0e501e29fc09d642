// Ends a launch that would never end: no block may take longer than LAB_LIMIT seconds (60; 0 means no
// limit) of its worker's processor time, and the blocks of a cooperative launch may take twice as long together. The
// number of blocks is not limited. Because processor time is counted, other programs on the machine, or a debugger that
// stops the program, cost a block nothing.
//
// The thread that waits for a launch checks the workers at intervals, and signals a worker
// whose block is overdue. The signal's handler learns the instruction at which the worker is,
// even in a loop without a call. If that is in the kernel's own code, the worker leaves its
// block there; in the library it continues, since it may hold a lock, and is signalled again,
// or leaves at the next place of the library that asks limit_reached: where a thread polls.
#ifndef LIMIT_H
#define LIMIT_H

#include "block.h"

// Installs the signal's handler for the whole process.
void limit_install(void);

// Call these on the worker's thread: when the thread begins, and when a block begins or a launch is over.
void limit_watch_worker(worker *worker);
void limit_watch_block(worker *worker);

// For a fiber that may leave: whether its block is overdue, and leaving the block at that instruction.
static inline bool limit_reached(const worker *worker) {
  const worker_watch *watch = &worker->lead->watch;
  return atomic_load_explicit(&watch->overdue, memory_order_relaxed) ==
         atomic_load_explicit(&watch->block, memory_order_relaxed);
}
__attribute__((noreturn)) void limit_leave(worker *worker, uintptr_t instruction);

// Checks all workers of the list, which run the launch, and returns the
// seconds until the next check; without a launch it only returns the seconds.
double limit_look(worker *workers, launch *launch);

#endif

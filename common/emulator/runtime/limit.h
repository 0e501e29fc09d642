// A launch that would never end is ended: no block may take longer than LAB_LIMIT seconds (60; 0: as long
// as it likes) of its worker's processor time. A launch has as many blocks as it likes, and what else runs
// on the machine, or a debugger that stops the program, costs it nothing.
//
// The thread that waits for a launch looks at the workers now and then, and signals the one whose block is
// overdue. Wherever that one is, in a loop without a call as well, the signal's handler learns the
// instruction. In the kernel's own code the worker leaves its block there; in the library it goes on, since
// it may hold a lock, and is signalled again.
#ifndef LIMIT_H
#define LIMIT_H

#include "block.h"

// Installs the signal's handler, for the whole process.
void limit_install(void);

// The worker's thread begins, a block begins, a launch is over: on that thread.
void limit_watch_worker(worker *worker);
void limit_watch_block(worker *worker);

// On a fiber that may leave: whether its block is overdue, and leaving it at that instruction.
static inline bool limit_reached(const worker *worker) {
  const worker_watch *watch = &worker->watch;
  return atomic_load_explicit(&watch->overdue, memory_order_relaxed) ==
         atomic_load_explicit(&watch->block, memory_order_relaxed);
}
__attribute__((noreturn)) void limit_leave(worker *worker, uintptr_t instruction);

// Looks at all workers of the list, which run the launch, and returns in how many seconds to look again;
// without a launch only the latter.
double limit_look(worker *workers, launch *launch);

#endif

// The order in which threads run in count mode: the lanes of a warp together, as on a GPU.
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include "block.h"

// The worker's block runs from now on.
void lockstep_enter(const worker *worker);

// The running thread has reached a basic block: the other lanes of its round run first. `code`
// is the address of the block, `stack` the top of the frame of the function that it is in.
void lockstep_arrive(worker *worker, uintptr_t code, const void *stack);

#endif

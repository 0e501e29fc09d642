// The barrier of all blocks of a cooperative launch.
#ifndef GRID_BARRIER_H
#define GRID_BARRIER_H

#include "launch.h"

struct worker;

// Call it before the launch begins.
void grid_barrier_begin(void);

// A block of the launch has ended, so it will not come to the barrier any more.
void grid_barrier_block_ended(const launch *launch);

// Whether the thread of the worker's block that waits there must go on: because all blocks have come, or because those
// that are missing never will.
bool grid_barrier_is_over(const struct worker *worker);

#endif

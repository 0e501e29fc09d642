// The barrier of all blocks of a cooperative launch.
#ifndef GRID_BARRIER_H
#define GRID_BARRIER_H

#include "launch.h"

// Call it before the launch begins.
void grid_barrier_begin(void);

// A block of the launch has ended, so it will not come to the barrier any more.
void grid_barrier_block_ended(launch *launch);

#endif

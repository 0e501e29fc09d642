// The OS threads that run blocks: EMU_WORKERS of them, by default one for each core. They are made
// for the first launch and kept.
#ifndef WORKERS_H
#define WORKERS_H

#include "launch.h"

// Adds the counts of a worker's blocks to others.
void workers_add_counts(emulator_counts *sum, const emulator_counts *more);

// Runs the launch's blocks and returns when no worker is in it any more; launch->counts then holds
// the sums. One launch at a time. False when no worker could be made.
bool workers_run(launch *launch);

// Returns which block, or cluster, of the launch begins at that place of the order (emulator_shuffle_blocks).
uint64_t workers_at_place(const launch *launch, uint64_t place);

#endif

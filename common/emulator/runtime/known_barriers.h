// The barriers in a block's shared memory, with their names and last events, for reports (known_barrier of block.h).
#ifndef KNOWN_BARRIERS_H
#define KNOWN_BARRIERS_H

#include "block.h"

// NULL when no barrier has been made at the address, or when it is not among the block's first KNOWN_BARRIERS.
const known_barrier *known_barrier_of(const worker *worker, const uint64_t *barrier);

// Call these when the running thread has made the barrier, when it has arrived there and announced
// `bytes`, when a phase has ended, and when
// the running thread's wait is over; `at_once`: there was nothing to wait for. `words` must stay in memory.
void known_barrier_made(worker *worker, const uint64_t *barrier, const char *words);
void known_barrier_arrived(worker *worker, const uint64_t *barrier, unsigned bytes,
                           const emulator_site *site);
void known_barrier_ended(worker *worker, const uint64_t *barrier);
void known_barrier_waited(worker *worker, const uint64_t *barrier, bool at_once);

#endif

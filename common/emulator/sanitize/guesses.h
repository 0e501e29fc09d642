// Reads that serve only as the first guess of a compare-and-swap. This loop begins with one:
//
//     old = *p;
//     do old = atomicCAS(p, assumed = old, f(assumed)); while (old != assumed);
//
// The read has no order with the atomic operations of other threads, and this is no fault: if one comes between, the
// compare-and-swap fails and returns the value that is there. So such a race is held back until the reader's next access to the place:
// a compare-and-swap of the same bytes shows that it was a guess, and anything else that it was none.
#ifndef SANITIZE_GUESSES_H
#define SANITIZE_GUESSES_H

#include "accesses.h"

// Whether a later compare-and-swap can show that the access has been a guess: the present one, or a past one whose thread
// still runs and has not come to the place again.
bool guesses_may_be(const checked_access *access);
bool guesses_is_open(const past_access *past);

// The access shows whether earlier reads of its thread were guesses: those that a cell remembers, and those of races that
// are held back.
void guesses_settle_read(const checked_access *access, past_access *read);
void guesses_settle(const checked_access *access);
static inline void guesses_settle_cell(const checked_access *access, shadow_cell *cell) {
  for (unsigned i = 0; i < READS_KEPT; i++) {
    past_access *read = &cell->read[i];
    if (read->actor == access->actor && read->guess == GUESS_OPEN)
      guesses_settle_read(access, read);
  }
}

// Holds the race between the two back if one of them is a read that may be a guess, and the other one an atomic operation.
// Returns false if it is to be reported at once.
bool guesses_hold(const finding *found, const checked_access *access, const past_access *past,
                  uintptr_t address);

// Reports the races that are held back, because no compare-and-swap will come: the running thread exits, or the launch is
// over.
void guesses_thread_end(unsigned thread);
void guesses_launch_end(void);

#endif

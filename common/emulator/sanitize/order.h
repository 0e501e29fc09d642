// What happened before what: which of a block's accesses are ordered by barriers, and which are not.
//
// Time is a counter, and an access has its value as a stamp. It moves on at each event that orders
// accesses. So what an event orders is told by comparing stamps, as in the epochs of Flanagan and
// Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009:
//
//   block barrier   all accesses of the block so far come before all later ones
//   __syncwarp()    those of the lanes that took part come before later ones of these lanes
//   launch          all accesses of earlier launches come before its own
//
// Nothing else does. Shuffles and votes do not: they "do not imply a memory barrier" (CUDA C++
// Programming Guide, "Warp Shuffle Functions"). Neither do wmma operations, which wait for the warp's
// lanes but promise nothing about memory. That lanes run in lockstep is not assumed (Programming
// Guide, "Independent Thread Scheduling").
//
// Atomic operations are taken generously, so that locks, counters of finished blocks and the like give
// no false report: they order two accesses as soon as both warps (both blocks, in global memory) have
// done an atomic operation since the first one.
#ifndef SANITIZE_ORDER_H
#define SANITIZE_ORDER_H

#include "observer.h"

// An access that has happened. No access when the stamp is 0.
typedef struct {
  uint32_t stamp;
  uint32_t place;       // see places.h
  unsigned thread : 16; // in its block
  unsigned bytes : 8;
  unsigned kind : 4; // observed_kind
  unsigned part : 4; // of the cell it is remembered in: a bit for each byte, see shadow.h
} past_access;

void order_launch_begin(void);
void order_block_begin(void);
void order_block_barrier(void);
// `first` is the warp's first thread in the block.
void order_warp_barrier(unsigned first, unsigned lanes);
void order_atomic(unsigned thread, bool global);

// The stamp of an access that happens now.
uint32_t order_now(void);

// Whether the past access is ordered before what the thread of the running block does now.
bool order_before(const past_access *past, unsigned thread);

bool order_in_running_launch(uint32_t stamp);
bool order_in_running_block(uint32_t stamp);

// The number of the block that ran at the time: blocks of a launch run in order.
uint64_t order_block_number(uint32_t stamp);

// True when the counter is about to run out, which order_restart makes start again.
bool order_exhausted(void);
void order_restart(void);

#endif

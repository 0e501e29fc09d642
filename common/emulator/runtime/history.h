// The order of what the warps of a block do: waits, arrivals, copies and products. It has no times, because the
// threads of a block take turns here; it says what came before what, and which event let a warp go on.
//
// One lane speaks for a warp, the first of those that have not exited. The last events are part of the report of a
// deadlock. With EMU_ORDER=FILE, block 0 of each launch writes all events to FILE, for make step14 timeline;
// EMU_ORDER_BLOCK=x,y,z chooses another block, and EMU_ORDER_KERNEL one kernel.
#ifndef HISTORY_H
#define HISTORY_H

#include "emulator.h"

#include <stdbool.h>
#include <stdint.h>

enum { HISTORY_MOST = 4096, HISTORY_WARPS = 32 };

#define HISTORY_OTHER_BLOCK UINT64_MAX // has come to a barrier of blocks, or has ended

typedef enum {
  HISTORY_DID,     // the warp has called a function that did not make it wait
  HISTORY_WAITS,   // the warp has called a function and waits
  HISTORY_GOES_ON, // what it waited for has happened
} history_kind;

typedef struct {
  uint64_t number; // from 1 on, in the block
  uint64_t
      after; // HISTORY_GOES_ON: the event that ended the wait; 0: the copy engine's bytes; or this:
  history_kind kind;
  unsigned warp;
  unsigned times; // how often the lane called the function in turn
  const char *operation, *file;
  int line;
  const uint64_t *barrier; // the mbarrier that it is about, else NULL
  int under_way;           // of a wait for products: how many groups it leaves under way; else -1
} history_event;

// A ring: event number n is events[n % HISTORY_MOST].
typedef struct {
  uint64_t count;
  uint64_t last[HISTORY_WARPS]; // each warp's last event, 0 where there is none
  history_event events[HISTORY_MOST];
} block_history;

struct worker;
struct thread;

// Call these when a block begins, and when it ends or can go on no more.
void history_begin(struct worker *worker);
void history_end(struct worker *worker);

// The running thread calls a function; `barrier` is NULL where it is about no mbarrier.
void history_did(struct worker *worker, const emulator_site *site, const uint64_t *barrier);

// The call that the running thread has just told is a wait that leaves so many groups of products under way.
void history_leaves(struct worker *worker, unsigned groups);

// The running thread begins to wait in the function that it has called; another one, or the copy engine, has ended the
// wait of `thread`.
void history_waits(struct worker *worker);
void history_goes_on(struct worker *worker, const struct thread *thread);

// Writes the last events of each warp into the report of a fault.
void history_report(const struct worker *worker);

#endif

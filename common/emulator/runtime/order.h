// The order of what the warps of a block do: waits, arrivals, copies and products. It has no times, because the
// threads of a block take turns here; it says what came before what, and which event let a warp go on.
//
// One lane speaks for a warp, the first of those that have not exited. The last events are part of the report of a
// deadlock. With EMU_ORDER=FILE, block 0 of each launch writes all events to FILE, for make step14 timeline.
#ifndef ORDER_H
#define ORDER_H

#include "emulator.h"

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_MOST = 4096, ORDER_WARPS = 32 };

typedef enum {
  ORDER_DID,     // the warp has called a function that did not make it wait
  ORDER_WAITS,   // the warp has called a function and waits
  ORDER_GOES_ON, // what it waited for has happened
} order_kind;

typedef struct {
  uint64_t number; // from 1 on, in the block
  uint64_t
      after; // ORDER_GOES_ON: the event of another warp that ended the wait; 0: the copy engine's bytes
  order_kind kind;
  unsigned warp;
  unsigned times; // how often the lane called the function in turn
  const char *operation, *file;
  int line;
  const uint64_t *barrier; // the mbarrier that it is about, else NULL
  int under_way;           // of a wait for products: how many groups it leaves under way; else -1
} order_event;

// A ring: event number n is events[n % ORDER_MOST].
typedef struct {
  uint64_t count;
  uint64_t last[ORDER_WARPS]; // each warp's last event, 0 where there is none
  order_event events[ORDER_MOST];
} block_order;

struct worker;
struct thread;

// Call these when a block begins, and when it ends or can go on no more.
void order_begin(struct worker *worker);
void order_end(struct worker *worker, uint64_t block);

// The running thread calls a function; `barrier` is NULL where it is about no mbarrier.
void order_did(struct worker *worker, const emulator_site *site, const uint64_t *barrier);

// The call that the running thread has just told is a wait that leaves so many groups of products under way.
void order_leaves(struct worker *worker, unsigned groups);

// The running thread begins to wait in the function that it has called; another one, or the copy engine, has ended the
// wait of `thread`.
void order_waits(struct worker *worker);
void order_goes_on(struct worker *worker, const struct thread *thread);

// Writes the last events of each warp into the report of a fault.
void order_report(const struct worker *worker);

#endif

// A GPU runs the lanes of a warp together as long as they are at the same instruction. Here they are
// fibers, which run one after the other; so each runs one basic block at a time, and all that are at the
// same block have their turn before any goes on: a round.
//
// Where lanes have parted, those in the deepest call go first, and among them those at the lowest
// address. Compilers lay code out so that branches join below, so the lanes that are ahead wait for
// the others there, and go on with them (Collange, "Stack-less SIMT reconvergence at low cost", 2011:
// min SP, then min PC). The hardware's rules are not known; they join at the same places.
#include "lockstep.h"

#include "fault.h"
#include "round.h"
#include "turns.h"

#include <string.h>

typedef struct {
  size_t depth; // bytes of stack above the function that the lane is in
  uintptr_t code;
  unsigned waits; // since it came to `code`: behind as many waiting calls of the basic block
} place;

static _Thread_local struct {
  place places[BLOCK_THREADS_MAX];
  uint32_t ready[WARPS_MAX]; // lanes that can run and are not in the round, or had their turn in it
  unsigned warp_count;
  unsigned warp;      // whose round it is
  uint32_t left;      // lanes of the round that have still to run
  uint32_t arrived;   // lanes of the round that came to another basic block
  place from;         // where the round began
  bool yielded;       // a lane of the round let others run first
  unsigned impatience; // rounds in which lanes yielded while others of their warp were passed over
  unsigned favoured;  // the lane that goes first next time that patience ends
} lockstep;

// ---- Places -------------------------------------------------------------------------------------

static bool same(const place *a, const place *b) {
  return a->code == b->code && a->depth == b->depth && a->waits == b->waits;
}

static bool before(const place *a, const place *b) {
  if (a->depth != b->depth) return a->depth > b->depth;
  return a->code != b->code ? a->code < b->code : a->waits < b->waits;
}

static place *place_of(unsigned lane) {
  return &lockstep.places[lockstep.warp * GPU_WARP_LANES + lane];
}

static unsigned lowest(uint32_t lanes) { return (unsigned)__builtin_ctz(lanes); }

// ---- Rounds --------------------------------------------------------------------------------------

// What g++ emits for the callback: a call of this many bytes, and the address behind it.
#ifdef __x86_64__
enum { CALL_BYTES = 5 };
#else
enum { CALL_BYTES = 4 };
#endif

// Lanes that came to different blocks took a branch at the end of theirs. One of the places is mostly
// the block behind the branch: then the last byte before its callback is of the branch.
static void count_divergence(void) {
  if (lockstep.arrived == 0) return;
  const place *first = place_of(lowest(lockstep.arrived));
  bool diverged = false;
  uintptr_t behind = 0;
  for (uint32_t lanes = lockstep.arrived; lanes != 0; lanes &= lanes - 1) {
    const place *place = place_of(lowest(lanes));
    if (!same(place, first)) diverged = true;
    if (place->code > lockstep.from.code && (behind == 0 || place->code < behind)) {
      behind = place->code;
    }
  }
  if (!diverged) return;
  const uintptr_t code = behind != 0 ? behind - CALL_BYTES : lockstep.from.code;
  tally_at(origin_of_code((const void *)code))->value[COUNT_DIVERGENT_BRANCHES]++;
}

static void end_round(void) {
  round_end();
  count_divergence();
  lockstep.arrived = 0;
}

// The lane whose place the warp's next round is at.
static unsigned leader(uint32_t ready) {
  // Lanes that wait for another lane of their warp, which is ahead, would run for ever.
  enum { PATIENCE = 64 };
  if (lockstep.impatience > PATIENCE) {
    lockstep.impatience = 0;
    const uint32_t behind = ready & ~((2u << lockstep.favoured) - 1);
    lockstep.favoured = lowest(behind != 0 ? behind : ready);
    return lockstep.favoured;
  }
  unsigned first = lowest(ready);
  for (uint32_t lanes = ready & (ready - 1); lanes != 0; lanes &= lanes - 1) {
    if (before(place_of(lowest(lanes)), place_of(first))) first = lowest(lanes);
  }
  return first;
}

// False when no thread can run. A warp runs until all its lanes wait, or one yields.
static bool begin_round(void) {
  unsigned warp = lockstep.warp + lockstep.yielded;
  unsigned looked_at = 0;
  while (lockstep.ready[warp % lockstep.warp_count] == 0) {
    if (++looked_at > lockstep.warp_count) return false;
    warp++;
  }
  lockstep.warp = warp % lockstep.warp_count;
  const uint32_t ready = lockstep.ready[lockstep.warp];
  const unsigned first = leader(ready);
  uint32_t lanes = 0;
  for (uint32_t rest = ready; rest != 0; rest &= rest - 1) {
    if (same(place_of(lowest(rest)), place_of(first))) lanes |= 1u << lowest(rest);
  }
  if (lockstep.yielded && lanes != ready) lockstep.impatience++;
  lockstep.yielded = false;
  lockstep.from = *place_of(first);
  lockstep.left = lanes;
  return true;
}

// ---- Turns --------------------------------------------------------------------------------------

void turns_begin(worker *worker) {
  memset(lockstep.places, 0, worker->thread_count * sizeof *lockstep.places);
  memset(lockstep.ready, 0, sizeof lockstep.ready);
  lockstep.warp_count = (worker->thread_count + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  lockstep.warp = 0;
  lockstep.left = 0;
  lockstep.arrived = 0;
  lockstep.yielded = false;
  lockstep.impatience = 0;
}

void turns_add(worker *worker, const thread *thread) {
  (void)worker;
  lockstep.ready[thread->index / GPU_WARP_LANES] |= 1u << thread->seen.lane;
}

thread *turns_take(worker *worker) {
  if (atomic_load_explicit(&worker->launch->abandoned, memory_order_relaxed)) fault_leave(worker);
  if (lockstep.left == 0) {
    end_round();
    if (!begin_round()) return NULL;
  }
  const unsigned lane = lowest(lockstep.left);
  lockstep.left &= lockstep.left - 1;
  lockstep.ready[lockstep.warp] &= ~(1u << lane);
  round_lane(lane);
  return &worker->threads[lockstep.warp * GPU_WARP_LANES + lane];
}

void turns_yield(worker *worker) {
  lockstep_wait(worker);
  lockstep.yielded = true;
}

void lockstep_wait(worker *worker) { lockstep.places[worker->running->index].waits++; }

void lockstep_arrive(worker *worker, uintptr_t code, const void *stack) {
  const thread *self = worker->running;
  const char *top = self->stack->low + FIBER_STACK_BYTES;
  lockstep.places[self->index] =
      (place){.depth = (size_t)(top - (const char *)stack), .code = code};
  lockstep.arrived |= 1u << self->seen.lane;
  block_step_aside(worker);
}

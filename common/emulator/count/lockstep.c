// A GPU runs the lanes of a warp together as long as they are at the same instruction. Here
// they are fibers, which run one after the other. So each fiber runs one basic block at a time,
// and all lanes that are at the same block run it before any lane continues; this is a round.
//
// Where lanes have diverged, those in the deepest call run first, and among them those at the lowest
// address. Compilers place code so that branches join at higher addresses, so the lanes that are ahead
// wait there for the others and continue with them (Collange, "Stack-less SIMT reconvergence at low cost",
// 2011: min SP, then min PC). The hardware's rules are not known, but lanes join at the same places.
#include "lockstep.h"

#include "fault.h"
#include "limit.h"
#include "round.h"
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t depth;   // bytes of stack above the function that the lane is in
  uintptr_t code; // of its basic block
} place;

typedef struct {
  uint32_t ready;      // lanes that can run and do not wait for a turn in the round
  unsigned impatience; // rounds in which lanes yielded while others were passed over
  bool favours;        // `favoured` runs first, until it waits or yields
  unsigned favoured;
} warp_turns;

typedef struct {
  place places[BLOCK_THREADS_MAX];
  uint64_t last_round[BLOCK_THREADS_MAX]; // the last round in which the thread ran
  warp_turns warps[WARPS_MAX];
  unsigned warp_count;
  uint64_t round;   // its number
  unsigned warp;    // the warp whose round it is
  uint32_t lanes;   // the lanes of the round
  uint32_t left;    // lanes that still have to run
  uint32_t arrived; // lanes that reached another basic block
  place from;       // where the round began
  bool yielded;     // a lane of the round let others run first
} block_turns;

// Of the blocks of the worker's cluster, by rank; an ordinary block is the first. They are kept.
static _Thread_local block_turns *of_blocks[CLUSTER_BLOCKS_MAX];
static _Thread_local block_turns *lockstep; // of the block that runs

void lockstep_enter(const worker *worker) {
  block_turns **turns = &of_blocks[worker->rank];
  if (*turns == NULL && (*turns = calloc(1, sizeof **turns)) == NULL) {
    fprintf(stderr, "error: no memory to count the requests of a block in\n");
    exit(2);
  }
  lockstep = *turns;
}

// ---- Places -------------------------------------------------------------------------------------

static bool same(const place *a, const place *b) {
  return a->code == b->code && a->depth == b->depth;
}

static bool before(const place *a, const place *b) {
  return a->depth != b->depth ? a->depth > b->depth : a->code < b->code;
}

static place *place_of(unsigned lane) {
  return &lockstep->places[lockstep->warp * GPU_WARP_LANES + lane];
}

static unsigned lowest(uint32_t lanes) { return (unsigned)__builtin_ctz(lanes); }

// ---- Rounds -------------------------------------------------------------------------------------

// The size of the call that g++ emits for the callback, which knows the address behind the call.
#ifdef __x86_64__
enum { CALL_BYTES = 5 };
#else
enum { CALL_BYTES = 4 };
#endif

// Lanes that reached different blocks took a branch at the end of their block. One of these places is
// mostly the block behind the branch; then the last byte before its callback belongs to the branch.
static void count_divergence(void) {
  if (lockstep->arrived == 0) return;
  const place *first = place_of(lowest(lockstep->arrived));
  bool diverged = false;
  uintptr_t behind = 0;
  for (uint32_t lanes = lockstep->arrived; lanes != 0; lanes &= lanes - 1) {
    const place *place = place_of(lowest(lanes));
    if (!same(place, first)) diverged = true;
    if (place->code > lockstep->from.code && (behind == 0 || place->code < behind)) {
      behind = place->code;
    }
  }
  if (!diverged) return;
  const uintptr_t code = behind != 0 ? behind - CALL_BYTES : lockstep->from.code;
  tally_at(origin_of_code((const void *)code))->value[COUNT_DIVERGENT_BRANCHES]++;
}

static void end_round(void) {
  round_end();
  count_divergence();
  lockstep->arrived = 0;
}

// The lane that has waited longest for a turn.
static unsigned most_patient(uint32_t ready) {
  const uint64_t *last_round = &lockstep->last_round[lockstep->warp * GPU_WARP_LANES];
  unsigned oldest = lowest(ready);
  for (uint32_t lanes = ready & (ready - 1); lanes != 0; lanes &= lanes - 1) {
    if (last_round[lowest(lanes)] < last_round[oldest]) oldest = lowest(lanes);
  }
  return oldest;
}

// The lane at whose place the warp's next round is.
static unsigned leader(warp_turns *turns) {
  const uint32_t ready = turns->ready;
  // Lanes that poll for the work of a lane behind them in the code would poll for ever.
  enum { PATIENCE = 256 };
  if (turns->impatience > PATIENCE) {
    turns->impatience = 0;
    turns->favours = true;
    turns->favoured = most_patient(ready);
  }
  if (turns->favours && (ready >> turns->favoured & 1)) return turns->favoured;
  turns->favours = false;
  unsigned first = lowest(ready);
  for (uint32_t lanes = ready & (ready - 1); lanes != 0; lanes &= lanes - 1) {
    if (before(place_of(lowest(lanes)), place_of(first))) first = lowest(lanes);
  }
  return first;
}

// A warp runs until all its lanes wait, or one yields. Moves on to the next that can run; false when
// there is none.
static bool choose_warp(void) {
  warp_turns *turns = &lockstep->warps[lockstep->warp];
  if (lockstep->yielded && (turns->ready & ~lockstep->lanes)) turns->impatience++;
  unsigned warp = lockstep->warp + lockstep->yielded;
  lockstep->yielded = false;
  for (unsigned i = 0; i < lockstep->warp_count; i++, warp++) {
    lockstep->warp = warp % lockstep->warp_count;
    if (lockstep->warps[lockstep->warp].ready != 0) return true;
  }
  return false;
}

static bool begin_round(void) {
  if (!choose_warp()) return false;
  warp_turns *turns = &lockstep->warps[lockstep->warp];
  const unsigned first = leader(turns);
  lockstep->round++;
  lockstep->lanes = 0;
  for (uint32_t rest = turns->ready; rest != 0; rest &= rest - 1) {
    const unsigned lane = lowest(rest);
    if (!same(place_of(lane), place_of(first))) continue;
    lockstep->lanes |= 1u << lane;
    lockstep->last_round[lockstep->warp * GPU_WARP_LANES + lane] = lockstep->round;
  }
  lockstep->from = *place_of(first);
  lockstep->left = lockstep->lanes;
  return true;
}

// ---- Turns --------------------------------------------------------------------------------------

void turns_begin(worker *worker) {
  lockstep_enter(worker);
  round_end(); // of a block that was abandoned in it
  memset(lockstep->places, 0, worker->thread_count * sizeof *lockstep->places);
  memset(lockstep->warps, 0, sizeof lockstep->warps);
  lockstep->warp_count = (worker->thread_count + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  lockstep->warp = 0;
  lockstep->left = 0;
  lockstep->arrived = 0;
  lockstep->yielded = false;
}

void turns_add(worker *worker, const thread *thread) {
  (void)worker;
  lockstep->warps[thread->index / GPU_WARP_LANES].ready |= 1u << thread->seen.lane;
}

thread *turns_take(worker *worker) {
  if (atomic_load_explicit(&worker->launch->abandoned, memory_order_relaxed)) fault_leave(worker);
  if (lockstep->left == 0) {
    end_round();
    if (!begin_round()) return NULL;
  }
  const unsigned lane = lowest(lockstep->left);
  lockstep->left &= lockstep->left - 1;
  lockstep->warps[lockstep->warp].ready &= ~(1u << lane);
  round_lane(lane);
  return &worker->threads[lockstep->warp * GPU_WARP_LANES + lane];
}

void turns_yield(worker *worker) {
  lockstep->yielded = true;
  warp_turns *turns = &lockstep->warps[lockstep->warp];
  if (turns->favoured == worker->running->seen.lane) turns->favours = false;
}

void lockstep_arrive(worker *worker, uintptr_t code, const void *stack) {
  // It is called here, since a kernel that is counted is hardly ever interrupted in its own code.
  if (limit_reached(worker)) limit_leave(worker, code - 1);
  const thread *self = worker->running;
  const char *top = self->stack->low + FIBER_STACK_BYTES;
  lockstep->places[self->index] =
      (place){.depth = (size_t)(top - (const char *)stack), .code = code};
  lockstep->arrived |= 1u << self->seen.lane;
  block_step_aside(worker);
}

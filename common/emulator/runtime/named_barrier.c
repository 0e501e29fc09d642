// bar.sync, bar.arrive and bar.red: barriers by number, for part of a block.
#define _GNU_SOURCE
#include "barriers.h"

#include "fault.h"
#include "observer.h"

#include <string.h>

// The next phase begins.
static void begin_phase(named_barrier *barrier) {
  if (barrier->arrived > 0) memset(barrier->lanes, 0, sizeof barrier->lanes);
  barrier->arrived = 0;
}

void named_barriers_begin(worker *worker) {
  for (unsigned i = 0; i < NAMED_BARRIERS; i++) begin_phase(&worker->named_barriers[i]);
}

static void check(const named_barrier *barrier, int number, int threads, bool asks,
                  const emulator_site *site) {
  if (number < 1 || number >= NAMED_BARRIERS) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: barriers have the numbers 1 to %d, not %d; 0 is __syncthreads()",
                   site->operation, site->file, site->line, NAMED_BARRIERS - 1, number);
  }
  if (threads <= 0 || threads % GPU_WARP_LANES != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: barrier %d is for whole warps, not for %d threads",
                   site->operation, site->file, site->line, number, threads);
  }
  if (barrier->arrived > 0 && barrier->threads != (unsigned)threads) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: barrier %d is for %d threads here, and for %u where others wait",
                   site->operation, site->file, site->line, number, threads, barrier->threads);
  }
  if (barrier->arrived > 0 && barrier->asks != asks) {
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: others came to barrier %d %s bar.red, which belongs to all threads "
        "of a phase or to none",
        site->operation, site->file, site->line, number, asks ? "without" : "by");
  }
}

// bar is .aligned: all threads of a warp execute the same instruction, and a warp that comes in parts counts more than once
// on a GPU. The emulator counts threads, so that it notices only by the lanes that are missing. (The functions of
// cooperative groups use a barrier, too, and ask for nothing of the kind.)
static bool is_aligned(const emulator_site *site) {
  return strncmp(site->operation, "bar.", 4) == 0;
}

static void check_line(const named_barrier *barrier, const emulator_site *site, int number,
                       unsigned warp) {
  const emulator_site *first = &barrier->site[warp];
  if (site->line == first->line && strcmp(site->file, first->file) == 0) return;
  emulator_fault(
      cudaErrorLaunchFailure,
      "%s in %s:%d: all lanes of a warp must come to a barrier by the same instruction: "
      "others of warp %u have come to barrier %d by %s in %s:%d. Put one call behind the "
      "condition that divides the lanes",
      site->operation, site->file, site->line, warp, number, first->operation, first->file,
      first->line);
}

// All arrivals of the phase have come. Are they those of whole warps?
static void check_lanes(const worker *worker, const named_barrier *barrier, int number) {
  for (unsigned warp = 0; warp * GPU_WARP_LANES < worker->thread_count; warp++) {
    const unsigned lanes = barrier->lanes[warp], missing = worker->warps[warp].alive & ~lanes;
    const emulator_site *site = &barrier->site[warp];
    if (lanes == 0 || missing == 0 || !is_aligned(site)) continue;
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: all lanes of a warp must come to a barrier by the same "
        "instruction: barrier %d has its %u threads, and the lanes 0x%08x of warp %u are "
        "not among them. Let whole warps come, 32 threads for each of them",
        site->operation, site->file, site->line, number, barrier->threads, missing, warp);
  }
}

// A warp that comes twice in a phase, such as first to arrive and then to wait, is looked at no more, but counted.
static void note_lane(worker *worker, named_barrier *barrier, int number,
                      const emulator_site *site) {
  const thread *thread = worker->running;
  const unsigned warp = thread->index / GPU_WARP_LANES, lane = 1u << thread->seen.lane;
  unsigned *lanes = &barrier->lanes[warp];
  if (*lanes & lane) {
    *lanes = ~0u;
    worker->counts.repeated_arrivals++;
  }
  if (*lanes == ~0u) return;
  if (*lanes == 0) barrier->site[warp] = *site;
  if (is_aligned(site)) check_line(barrier, site, number, warp);
  *lanes |= lane;
}

// Returns true when the running thread is the last to arrive; the waiting threads can then continue. `value` is what it
// gives to bar.red, and NULL for the others. Each thread gets the answer when the phase ends, because the next one
// may begin before it runs.
static bool arrive(worker *worker, int number, int threads, const bool *value,
                   const emulator_site *site) {
  named_barrier *barrier = &worker->named_barriers[number & (NAMED_BARRIERS - 1)];
  check(barrier, number, threads, value != NULL, site);
  if (barrier->arrived == 0) barrier->any = false;
  barrier->threads = (unsigned)threads;
  barrier->asks = value != NULL;
  if (value && *value) barrier->any = true;
  note_lane(worker, barrier, number, site);
  history_did(worker, site, NULL);
  observer_turn_arrive(worker, (unsigned)number, site);
  observer_phase_arrive(worker, barrier, site);
  if (++barrier->arrived < barrier->threads) return false;
  check_lanes(worker, barrier, number);
  begin_phase(barrier);
  observer_turn_complete(worker, (unsigned)number);
  worker->counts.named_barriers++;
  observer_phase_complete(worker, barrier);
  worker->running->mask = barrier->any;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    thread *thread = &worker->threads[i];
    if (thread->state == THREAD_AT_NUMBER && thread->awaited == barrier) {
      thread->mask = barrier->any;
      block_ready(worker, thread);
    }
  }
  return true;
}

// Warp groups that take turns wait at a named barrier for their turn, and arrive at another one to pass it. The first
// thread of a warp group counts what the group has committed in between.
static void count_turn(worker *worker) {
  thread *self = worker->running;
  if (self->products.in_turn && self->index % WARPGROUP_THREADS == 0)
    worker->counts.product_groups_in_turns += self->products.group - self->products.before_turn;
  self->products.in_turn = false;
}

void emulator_named_barrier_arrive(int number, int threads, const emulator_site *site) {
  count_turn(current_worker);
  arrive(current_worker, number, threads, NULL, site);
}

// Returns the answer of bar.red, if the thread gives it a value.
static bool arrive_and_wait(int number, int threads, const bool *value, const emulator_site *site) {
  worker *worker = current_worker;
  thread *self = worker->running;
  if (arrive(worker, number, threads, value, site)) {
    block_step_aside(worker);
  } else {
    self->state = THREAD_AT_NUMBER;
    self->site = site;
    self->awaited = &worker->named_barriers[number];
    block_wait(worker);
  }
  observer_phase_wait(worker, &worker->named_barriers[number]);
  return self->mask;
}

void emulator_named_barrier_wait(int number, int threads, const emulator_site *site) {
  arrive_and_wait(number, threads, NULL, site);
  thread_products *products = &current_worker->running->products;
  products->in_turn = true;
  products->before_turn = products->group;
}

bool emulator_named_barrier_any(int number, int threads, bool value, const emulator_site *site) {
  return arrive_and_wait(number, threads, &value, site);
}

// Finds waits at an mbarrier that may be for another phase than is meant. A wait names a phase by its parity alone, so it
// can only tell the running phase and the one before apart (PTX ISA 9.0, 9.7.13.15.16, "mbarrier.test_wait"). Two rules
// follow, which hold in every order of threads, whatever has come to pass in this one:
//
// - A thread that waits for a phase must see its end before the next phase ends. Otherwise it misses both, and waits on. So
//   the end of the next phase must be ordered behind that wait.
// - A thread that begins to wait for a phase must know that the one before is over. Otherwise that one may still run, and
//   the end of the phase before it, which has the same parity, ends the wait.
//
// If one lane of a warp has seen a phase, that counts for all its lanes, and so for a warpgroup with products: shuffles,
// wgmma and other instructions wait for the whole of it, though they order no memory.
#define _GNU_SOURCE
#include "phases.h"

#include "accesses.h"
#include "places.h"

// Phases are counted from 0. The one before the first, -1, counts as over. Of a thread the arrivals in the running phase and
// in the two before it are looked at.
enum { NO_PHASE = -2, ARRIVALS_KEPT = 4 };

typedef struct {
  int phase;
  uint32_t over; // the stamp of its end; 0: the thread still waits
  uint32_t place;
} phase_wait;

typedef struct {
  int phase;
  uint32_t stamp;
} phase_arrival;

typedef struct {
  phase_wait wait[2];                   // the last ones, by the parity of their phases
  int waited;                           // the phase of the last one
  phase_arrival arrival[ARRIVALS_KEPT]; // the last one in phase n: [n % ARRIVALS_KEPT]
  int arrived;                          // the phase of the last one
} thread_phases;

typedef struct {
  const void *barrier;
  int running; // the number of the running phase
  // By the parity of the phases before: the stamp of the last copy that had arrived by the end of the phase.
  uint32_t copies[2];
  past_access arrival;
  thread_phases of[BLOCK_THREADS_MAX];
} barrier_phases;

static struct block_phases {
  barrier_phases item[ORDER_BARRIERS_MAX - 1]; // order.c does not tell further ones apart
  unsigned count;
} blocks[CLUSTER_BLOCKS_MAX]; // by the rank of the block

void phases_forget(void) { blocks[order_rank()].count = 0; }

static barrier_phases *find(const void *barrier) {
  struct block_phases *own = &blocks[order_rank()];
  for (unsigned i = 0; i < own->count; i++)
    if (own->item[i].barrier == barrier) return &own->item[i];
  return NULL;
}

void phases_create(worker *worker, const void *barrier) {
  struct block_phases *own = &blocks[order_rank()];
  barrier_phases *it = find(barrier);
  if (it == NULL && own->count == sizeof own->item / sizeof *own->item) return;
  if (it == NULL) it = &own->item[own->count++];
  it->barrier = barrier;
  it->running = 0;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    thread_phases *of = &it->of[i];
    *of = (thread_phases){.wait = {{.phase = NO_PHASE}, {.phase = NO_PHASE}},
                          .waited = NO_PHASE,
                          .arrived = NO_PHASE};
    for (unsigned n = 0; n < ARRIVALS_KEPT; n++) of->arrival[n].phase = NO_PHASE;
  }
}

static past_access event_of(unsigned thread, uint32_t stamp) {
  return (past_access){.stamp = stamp, .actor = thread & 0xFFF, .rank = order_rank() & 0xF};
}

static finding_party party_of(worker *worker, unsigned thread, uint32_t place) {
  const checked_access access = {.worker = worker, .thread = thread, .place = place};
  return access_party(&access);
}

static void report(finding *found, const void *barrier) {
  found->kind = FINDING_PHASE;
  found->space = ADDRESS_STATIC_SHARED;
  findings_add(found, access_describe, barrier);
}

// How many threads wait for each other, the thread among them: a warp or a warpgroup.
static unsigned together(const worker *worker, unsigned thread) {
  const thread_products *products = &worker->threads[thread].products;
  return products->group > 0 || products->started > 0 ? WARPGROUP_THREADS : GPU_WARP_LANES;
}

// ---- The next phase ends ------------------------------------------------------------------------

// Is the wait's end ordered before that of the running phase? The thread that has arrived last may know it by other ways
// than its arrival.
static bool saw_in_time(const barrier_phases *it, unsigned thread, const phase_wait *wait) {
  const past_access seen = event_of(thread, wait->over);
  return seen.stamp > 0 &&
         (order_before_phase_end(it->barrier, &seen) || order_before(&seen, it->arrival.actor) ||
          order_carried_to_phase_end(it->barrier, &seen));
}

// Of the threads from `first` to before `end`: the first that has waited for the phase before the running one, if none of
// them has seen its end in time; else the block's number of threads.
static unsigned late_thread(const worker *worker, const barrier_phases *it, unsigned first,
                            unsigned end) {
  const int phase = it->running - 1;
  unsigned late = worker->thread_count;
  for (unsigned i = first; i < end && i < worker->thread_count; i++) {
    const phase_wait *wait = &it->of[i].wait[phase & 1];
    if (wait->phase != phase) continue;
    if (saw_in_time(it, i, wait)) return worker->thread_count;
    if (late == worker->thread_count) late = i;
  }
  return late;
}

void phases_arrive(worker *worker, const void *barrier, const emulator_site *site) {
  barrier_phases *it = find(barrier);
  if (it == NULL) return;
  const unsigned thread = worker->running->index;
  it->of[thread].arrived = it->running;
  it->of[thread].arrival[it->running % ARRIVALS_KEPT] = (phase_arrival){it->running, order_now()};
  it->arrival = event_of(thread, order_now());
  it->arrival.place = place_of_site(site);
}

void phases_complete(worker *worker, const void *barrier) {
  barrier_phases *it = find(barrier);
  if (it == NULL) return;
  for (unsigned first = 0, end; first < worker->thread_count; first = end) {
    const unsigned near = together(worker, first);
    end = (first / near + 1) * near;
    const unsigned late = late_thread(worker, it, first, end);
    if (late == worker->thread_count) continue;
    finding found = {
        .party = {party_of(worker, late, it->of[late].wait[(it->running - 1) & 1].place),
                  party_of(worker, it->arrival.actor, it->arrival.place)},
        .parties = 2,
        .hint = "a wait tells phases apart by their parity alone, and here the next phase can end "
                "before the thread has seen the end of its own: each warp that waits must first "
                "arrive, at this barrier or at one for which the arriving thread waits"};
    report(&found, barrier);
    break;
  }
  it->copies[it->running & 1] = order_copies_arrived(barrier);
  it->running++;
}

// ---- A wait begins ------------------------------------------------------------------------------

// Does the thread know of all arrivals of the phase, and of the copies that it counted? Its own arrival may have been the
// last by luck.
static bool knows_arrivals(const worker *worker, const barrier_phases *it, int phase,
                           unsigned thread) {
  for (unsigned i = 0; i < worker->thread_count; i++) {
    const phase_arrival *arrival = &it->of[i].arrival[phase % ARRIVALS_KEPT];
    const past_access event = event_of(i, arrival->stamp);
    if (arrival->phase == phase && !order_before(&event, thread)) return false;
  }
  return order_phase_known(it->barrier, it->copies[phase & 1], thread);
}

// Does the thread know that the phase is over? A thread that has arrived in the next one does.
static bool knows_end(const worker *worker, const barrier_phases *it, int phase, unsigned thread) {
  const thread_phases *own = &it->of[thread];
  if (phase < 0 || own->waited >= phase || own->arrived > phase) return true;
  if (knows_arrivals(worker, it, phase, thread)) return true;
  const unsigned near = together(worker, thread);
  for (unsigned i = 0; i < 2 * worker->thread_count; i++) {
    const phase_wait *wait = &it->of[i / 2].wait[i % 2];
    const past_access seen = event_of(i / 2, wait->over);
    if (wait->phase < phase || seen.stamp == 0) continue;
    if (i / 2 / near == thread / near || order_before(&seen, thread)) return true;
  }
  return false;
}

void observer_phase_look(worker *worker, const void *barrier, bool over,
                         const emulator_site *site) {
  barrier_phases *it = find(barrier);
  if (it == NULL) return;
  const unsigned thread = worker->running->index;
  const int phase = over ? it->running - 1 : it->running;
  const uint32_t place = place_of_site(site);
  if (!knows_end(worker, it, phase - 1, thread)) {
    finding found = {
        .party = {party_of(worker, thread, place)},
        .parties = 1,
        .hint = "a wait tells phases apart by their parity alone, and the thread cannot know that "
                "the phase before this one is over: it must wait for the phases one after the "
                "other, or for a thread that has; and before the next phase may end, it must "
                "arrive, at this barrier or at one for which the arriving thread waits"};
    report(&found, barrier);
  }
  it->of[thread].waited = phase;
  it->of[thread].wait[phase & 1] = (phase_wait){.phase = phase, .place = place};
}

void phases_waited(worker *worker, const void *barrier) {
  barrier_phases *it = find(barrier);
  if (it == NULL) return;
  thread_phases *own = &it->of[worker->running->index];
  own->wait[own->waited & 1].over = order_now();
}

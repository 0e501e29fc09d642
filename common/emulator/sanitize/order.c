#define _GNU_SOURCE
#include "order_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t order_time = 1;
unsigned order_running_rank;
order_launch_state order_launch;
order_block_state order_blocks[CLUSTER_BLOCKS_MAX], *order_own = order_blocks;

uint32_t order_now(void) { return order_time; }

uint32_t order_new_event(void) { return order_time++; }

void order_block_enter(unsigned rank) {
  order_running_rank = rank;
  order_own = &order_blocks[rank];
}

void order_launch_begin(const launch *launch) {
  static cudaStream_t stream; // of the launch before
  const emulator_launch_request *request = launch->request;
  const bool beside = request->early && order_launch.follows && request->stream == stream;
  order_launch.unordered = beside ? order_launch.start : order_time + 1;
  order_launch.follows = true;
  stream = request->stream;
  order_launch.running = launch;
  order_launch.cluster_blocks = launch->cluster_blocks;
  order_launch.start = order_launch.cluster_start = ++order_time;
  order_launch.count = 0;
  order_block_enter(0);
}

void order_launches_apart(void) { order_launch.follows = false; }

void order_earlier_waited(unsigned thread) {
  order_own->spread = order_own->learned[thread] = true;
  order_own->threads[thread].known[ACTOR_EARLIER] = order_time++;
}

// The blocks of a cluster begin at the same time.
void order_cluster_begin(void) {
  order_launch_state *launch = &order_launch;
  if (launch->count + launch->cluster_blocks > launch->room) {
    launch->room = launch->room > 0 ? 2 * launch->room : 1024;
    launch->times = realloc(launch->times, launch->room * sizeof *launch->times);
    if (launch->times == NULL) {
      fprintf(stderr, "error: no memory for the times of %zu blocks\n", launch->room);
      abort();
    }
  }
  launch->cluster_start = ++order_time;
  for (unsigned rank = 0; rank < launch->cluster_blocks; rank++)
    launch->times[launch->count++] = (order_block_times){.start = order_time};
}

void order_block_begin(void) {
  if (order_launch.cluster_blocks == 1) order_cluster_begin();
  order_own->barrier = order_launch.cluster_start - 1;
  memset(order_own->left_after, 0xFF, sizeof order_own->left_after); // RUNNING
  order_own->barrier_count = 0;
  order_own->spread = false;
  order_own->used = true;
}

static void join(actor_clock *sum, const actor_clock *more) {
  order_join_stamps(sum->known, more->known, CLOCK_STAMPS);
}

// No barrier waits for asynchronous accesses: after it each thread knows as much of them as any of them did, but for those
// that have ended and so have not come.
void order_block_barrier(void) {
  order_own->barrier = order_time++;
  order_atomics_met();
  if (!order_own->spread) return;
  for (unsigned actor = ACTOR_COPIES; actor < ACTORS_MAX; actor++) {
    uint32_t latest = 0;
    for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
      const uint32_t known = order_own->threads[i].known[actor];
      if (known > latest && order_own->left_after[i] == ORDER_RUNNING) latest = known;
    }
    for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) order_own->threads[i].known[actor] = latest;
  }
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    if (order_own->learned[i] && order_own->left_after[i] == ORDER_RUNNING)
      order_join_stamps(order_own->block_fenced, order_own->threads[i].known + FENCED,
                        BLOCK_THREADS_MAX);
    order_own->learned[i] = false;
  }
}

void order_thread_end(unsigned thread) { order_own->left_after[thread] = order_own->barrier; }

void order_warp_barrier(unsigned first, unsigned lanes) {
  // Before the block's first partial barrier, a thread knows of no accesses by other warps.
  const unsigned from = order_own->spread ? 0 : first,
                 to = order_own->spread ? CLOCK_STAMPS : first + GPU_WARP_LANES;
  static actor_clock joined;
  memset(joined.known + from, 0, (to - from) * sizeof *joined.known);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned i = from; i < to; i++) {
      const uint32_t stamp = order_own->threads[first + lane].known[i];
      if (stamp > joined.known[i]) joined.known[i] = stamp;
    }
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) joined.known[first + lane] = order_time;
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    memcpy(order_own->threads[first + lane].known + from, joined.known + from,
           (to - from) * sizeof *joined.known);
    order_own->learned[first + lane] = order_own->spread;
  }
  order_time++;
}

void order_warp_met(unsigned first, unsigned lanes) {
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      if (lanes >> other & 1) order_own->met[first + lane][other] = order_time;
    }
  }
  order_time++;
}

static void add_met(uint32_t *known, unsigned thread) {
  const unsigned first = thread / GPU_WARP_LANES * GPU_WARP_LANES;
  order_join_stamps(known + first, order_own->met[thread], GPU_WARP_LANES);
}

// ---- Barriers for part of a block ---------------------------------------------------------------

static unsigned barrier_number(const void *address) {
  for (unsigned i = 0; i < order_own->barrier_count; i++) {
    if (order_own->barriers[i].address == address) return i;
  }
  if (order_own->barrier_count == ORDER_BARRIERS_MAX) return ORDER_BARRIERS_MAX - 1;
  order_own->barriers[order_own->barrier_count] = (barrier_clock){.address = address};
  return order_own->barrier_count++;
}

void order_arrive(const void *address, unsigned thread) {
  actor_clock *arriving = &order_own->barriers[barrier_number(address)].arriving;
  order_own->spread = true;
  join(arriving, &order_own->threads[thread]);
  arriving->known[thread] = order_time;
  add_met(arriving->known, thread);
  order_time++;
}

void order_phase_complete(const void *address) {
  barrier_clock *it = &order_own->barriers[barrier_number(address)];
  it->complete = it->arriving;
}

void order_waited(const void *address, unsigned thread) {
  join(&order_own->threads[thread], &order_own->barriers[barrier_number(address)].complete);
  order_own->learned[thread] = true;
}

uint32_t order_phase_event(const void *address) {
  const unsigned number = barrier_number(address);
  return order_own->barriers[number].arriving.known[ACTOR_COPIES + number] = order_time++;
}

bool order_phase_known(const void *address, uint32_t event, unsigned thread) {
  return event <= order_own->threads[thread].known[ACTOR_COPIES + barrier_number(address)];
}

bool order_before_phase_end(const void *address, const past_access *past) {
  const unsigned number = barrier_number(address);
  const barrier_clock *it = &order_own->barriers[number];
  const bool counts_copies = it->arriving.known[ACTOR_COPIES + number] > 0;
  return past->stamp <= it->arriving.known[past->actor] ||
         (counts_copies && order_before(past, it->copier));
}

unsigned order_copy_actor(const void *address, unsigned thread) {
  const unsigned number = barrier_number(address);
  order_own->barriers[number].copier = thread;
  return ACTOR_COPIES + number;
}

void order_copy_arrived(const void *address, unsigned thread, uint32_t started) {
  const unsigned number = barrier_number(address);
  barrier_clock *it = &order_own->barriers[number];
  it->carrier = thread;
  it->carried_from = started;
  it->carried_to = order_time;
  it->arriving.known[ACTOR_COPIES + number] = order_time++;
}

bool order_carried_to_phase_end(const void *address, const past_access *past) {
  const uint32_t *known = order_own->barriers[barrier_number(address)].arriving.known;
  for (unsigned i = 0; i < order_own->barrier_count; i++) {
    const barrier_clock *it = &order_own->barriers[i];
    if (it->carrier == past->actor && it->carried_from > past->stamp &&
        it->carried_to <= known[ACTOR_COPIES + i])
      return true;
  }
  return false;
}

uint32_t order_copies_arrived(const void *address) {
  const unsigned number = barrier_number(address);
  return order_own->barriers[number].arriving.known[ACTOR_COPIES + number];
}

// ---- Products -----------------------------------------------------------------------------------

unsigned order_product_actor(unsigned warpgroup) { return ACTOR_PRODUCTS + warpgroup; }

void order_group_closed(unsigned warpgroup, uint64_t group) {
  order_own->group_stamp[warpgroup][group % GROUPS_MAX] = order_time++;
}

void order_group_waited(unsigned warpgroup, uint64_t group, unsigned thread) {
  order_own->spread = true;
  order_own->threads[thread].known[ACTOR_PRODUCTS + warpgroup] =
      order_own->group_stamp[warpgroup][group % GROUPS_MAX];
}

unsigned order_thread_of(const past_access *past) {
  const unsigned actor = past->actor;
  if (actor >= ACTOR_PRODUCTS) return (actor - ACTOR_PRODUCTS) * WARPGROUP_THREADS;
  return actor >= ACTOR_COPIES ? order_blocks[past->rank].barriers[actor - ACTOR_COPIES].copier
                               : actor;
}

// ---- Proxy fences -------------------------------------------------------------------------------

// The fence orders all accesses that the thread knows of now. A thread that is ordered behind it later knows this, too.
uint32_t order_proxy_fence(unsigned thread) {
  uint32_t *known = order_own->threads[thread].known, *fenced = known + FENCED;
  order_join_stamps(fenced, known, BLOCK_THREADS_MAX);
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    if (order_own->barrier > fenced[i]) fenced[i] = order_own->barrier;
  }
  add_met(fenced, thread);
  known[ACTOR_CLUSTER_FENCED] = known[ACTOR_CLUSTER];
  order_own->spread = order_own->learned[thread] = true;
  return fenced[thread] = order_own->proxy_fence = order_time++;
}

// Atomic operations are treated generously here, too: behind one, a fence of any thread will do.
bool order_proxy_fenced(const past_access *past, unsigned thread) {
  const uint32_t stamp = past->stamp;
  if (past->rank != order_rank()) return order_fenced_in_cluster(past, thread);
  return stamp <= order_own->threads[thread].known[FENCED + past->actor] ||
         stamp <= order_own->block_fenced[past->actor] ||
         (stamp <= order_own->proxy_fence &&
          order_own->warp_atomic[past->actor / GPU_WARP_LANES] > stamp);
}

// ---- The end of time ----------------------------------------------------------------------------

bool order_exhausted(void) { return order_time > UINT32_MAX / 2; }

void order_restart(void) {
  order_time = 1;
  for (unsigned rank = 0; rank < CLUSTER_BLOCKS_MAX; rank++) {
    order_block_state *block = &order_blocks[rank];
    if (!block->used) continue;
    memset(block->threads, 0, sizeof block->threads);
    memset(block->met, 0, sizeof block->met);
    memset(block->warp_atomic, 0, sizeof block->warp_atomic);
    memset(block->global_atomic, 0, sizeof block->global_atomic);
    memset(block->block_fenced, 0, sizeof block->block_fenced);
    block->proxy_fence = 0;
  }
  order_cluster_restart();
}

#define _GNU_SOURCE
#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t start;    // stamp of its first accesses
  uint32_t atomic;   // of its last atomic operation on global memory
  uint32_t fence;    // of its last fence
  uint32_t released; // of the last fence that an atomic operation on global memory has come behind
} block_times;

static uint32_t now = 1;
static uint32_t launch_start, block_start;
static uint32_t barrier; // accesses of this block up to this stamp are ordered by a barrier
enum { RUNNING = UINT32_MAX };
// The last barrier that the thread came to before its end, or RUNNING.
static uint32_t left_after[BLOCK_THREADS_MAX];
// threads[t].known[a] is a stamp: actor a's accesses up to it come before the present access of t. For a thread a,
// known[FENCED + a] is that of the accesses which a fence.proxy.async stands behind as well, on the way from a to t.
// Values from earlier blocks are too small to matter.
enum { FENCED = ACTORS_MAX, CLOCK_STAMPS = FENCED + BLOCK_THREADS_MAX };
typedef struct {
  uint32_t known[CLOCK_STAMPS];
} actor_clock;
static actor_clock threads[BLOCK_THREADS_MAX];
// The same for all threads since the last block barrier, and whether a thread has learned more since then.
static uint32_t block_fenced[BLOCK_THREADS_MAX];
static bool learned[BLOCK_THREADS_MAX];
static uint32_t proxy_fence; // stamp of the last one of any thread
// met[t][l]: the stamp at which t last met lane l of its warp in a warp function.
static uint32_t met[BLOCK_THREADS_MAX][GPU_WARP_LANES];
static uint32_t warp_atomic[ACTORS_MAX / GPU_WARP_LANES + 1];

typedef struct {
  const void *address;
  // The clocks of all arrivals, and of those up to the last phase's end. An arrival passes on those before
  // it, since all change the same word, one after the other (PTX ISA, "Release and Acquire Patterns").
  actor_clock arriving, complete;
  unsigned copier; // the thread that started the last copy
} barrier_clock;
static barrier_clock barriers[ORDER_BARRIERS_MAX];
static unsigned barrier_count; // of the running block
static uint32_t group_stamp[WARPGROUPS_MAX][GROUPS_MAX];
static bool spread; // threads may know of other warps' accesses
static block_times *blocks;
static size_t block_count, block_room;

uint32_t order_now(void) { return now; }

uint32_t order_new_event(void) { return now++; }

void order_launch_begin(void) {
  launch_start = ++now;
  block_start = now;
  block_count = 0;
}

void order_block_begin(void) {
  if (block_count == block_room) {
    block_room = block_room > 0 ? 2 * block_room : 1024;
    blocks = realloc(blocks, block_room * sizeof *blocks);
    if (blocks == NULL) {
      fprintf(stderr, "error: no memory for the times of %zu blocks\n", block_room);
      abort();
    }
  }
  barrier = now;
  memset(left_after, 0xFF, sizeof left_after); // RUNNING
  barrier_count = 0;
  spread = false;
  block_start = ++now;
  blocks[block_count++] = (block_times){.start = now};
}

static void join_stamps(uint32_t *sum, const uint32_t *more, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (more[i] > sum[i]) sum[i] = more[i];
  }
}

static void join(actor_clock *sum, const actor_clock *more) {
  join_stamps(sum->known, more->known, CLOCK_STAMPS);
}

// No barrier waits for asynchronous accesses: after it each thread knows as much of them as any of them did.
void order_block_barrier(void) {
  barrier = now++;
  if (!spread) return;
  for (unsigned actor = ACTOR_COPIES; actor < ACTORS_MAX; actor++) {
    uint32_t latest = 0;
    for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
      if (threads[i].known[actor] > latest) latest = threads[i].known[actor];
    }
    for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) threads[i].known[actor] = latest;
  }
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    if (learned[i]) join_stamps(block_fenced, threads[i].known + FENCED, BLOCK_THREADS_MAX);
    learned[i] = false;
  }
}

void order_thread_end(unsigned thread) { left_after[thread] = barrier; }

void order_warp_barrier(unsigned first, unsigned lanes) {
  // Before the block's first partial barrier, a thread knows of no accesses by other warps.
  const unsigned from = spread ? 0 : first, to = spread ? CLOCK_STAMPS : first + GPU_WARP_LANES;
  static actor_clock joined;
  memset(joined.known + from, 0, (to - from) * sizeof *joined.known);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned i = from; i < to; i++) {
      const uint32_t stamp = threads[first + lane].known[i];
      if (stamp > joined.known[i]) joined.known[i] = stamp;
    }
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if (lanes >> lane & 1) joined.known[first + lane] = now;
  }
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    memcpy(threads[first + lane].known + from, joined.known + from,
           (to - from) * sizeof *joined.known);
    learned[first + lane] = spread;
  }
  now++;
}

void order_warp_met(unsigned first, unsigned lanes) {
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    for (unsigned other = 0; other < GPU_WARP_LANES; other++) {
      if (lanes >> other & 1) met[first + lane][other] = now;
    }
  }
  now++;
}

static void add_met(uint32_t *known, unsigned thread) {
  const unsigned first = thread / GPU_WARP_LANES * GPU_WARP_LANES;
  join_stamps(known + first, met[thread], GPU_WARP_LANES);
}

// ---- Barriers for part of a block ---------------------------------------------------------------

static unsigned barrier_number(const void *address) {
  for (unsigned i = 0; i < barrier_count; i++) {
    if (barriers[i].address == address) return i;
  }
  if (barrier_count == ORDER_BARRIERS_MAX) return ORDER_BARRIERS_MAX - 1;
  barriers[barrier_count] = (barrier_clock){.address = address};
  return barrier_count++;
}

void order_arrive(const void *address, unsigned thread) {
  actor_clock *arriving = &barriers[barrier_number(address)].arriving;
  spread = true;
  join(arriving, &threads[thread]);
  arriving->known[thread] = now;
  add_met(arriving->known, thread);
  now++;
}

void order_phase_complete(const void *address) {
  barrier_clock *it = &barriers[barrier_number(address)];
  it->complete = it->arriving;
}

void order_waited(const void *address, unsigned thread) {
  join(&threads[thread], &barriers[barrier_number(address)].complete);
  learned[thread] = true;
}

uint32_t order_phase_event(const void *address) {
  const unsigned number = barrier_number(address);
  return barriers[number].arriving.known[ACTOR_COPIES + number] = now++;
}

bool order_phase_known(const void *address, uint32_t event, unsigned thread) {
  return event <= threads[thread].known[ACTOR_COPIES + barrier_number(address)];
}

unsigned order_copy_actor(const void *address, unsigned thread) {
  const unsigned number = barrier_number(address);
  barriers[number].copier = thread;
  return ACTOR_COPIES + number;
}

void order_copy_arrived(const void *address) {
  const unsigned number = barrier_number(address);
  barriers[number].arriving.known[ACTOR_COPIES + number] = now++;
}

// ---- Products -----------------------------------------------------------------------------------

unsigned order_product_actor(unsigned warpgroup) { return ACTOR_PRODUCTS + warpgroup; }

void order_group_closed(unsigned warpgroup, uint64_t group) {
  group_stamp[warpgroup][group % GROUPS_MAX] = now++;
}

void order_group_waited(unsigned warpgroup, uint64_t group, unsigned thread) {
  spread = true;
  threads[thread].known[ACTOR_PRODUCTS + warpgroup] = group_stamp[warpgroup][group % GROUPS_MAX];
}

unsigned order_thread_of(unsigned actor) {
  if (actor >= ACTOR_PRODUCTS) return (actor - ACTOR_PRODUCTS) * WARPGROUP_THREADS;
  return actor >= ACTOR_COPIES ? barriers[actor - ACTOR_COPIES].copier : actor;
}

// ---- Proxy fences -------------------------------------------------------------------------------

// The fence orders all accesses that the thread knows of now. A thread that is ordered behind it later knows this, too.
uint32_t order_proxy_fence(unsigned thread) {
  uint32_t *known = threads[thread].known, *fenced = known + FENCED;
  join_stamps(fenced, known, BLOCK_THREADS_MAX);
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    if (barrier > fenced[i]) fenced[i] = barrier;
  }
  add_met(fenced, thread);
  spread = learned[thread] = true;
  return fenced[thread] = proxy_fence = now++;
}

// Atomic operations are treated generously here, too: behind one, a fence of any thread will do.
bool order_proxy_fenced(const past_access *past, unsigned thread) {
  const uint32_t stamp = past->stamp;
  return stamp <= threads[thread].known[FENCED + past->actor] ||
         stamp <= block_fenced[past->actor] ||
         (stamp <= proxy_fence && warp_atomic[past->actor / GPU_WARP_LANES] > stamp);
}

// ---- Atomic operations --------------------------------------------------------------------------

void order_atomic(unsigned thread, bool global) {
  now++;
  warp_atomic[thread / GPU_WARP_LANES] = now;
  block_times *block = &blocks[block_count - 1];
  if (!global) return;
  block->atomic = now;
  block->released = block->fence;
}

void order_fence(void) { blocks[block_count - 1].fence = now++; }

static size_t block_index(uint32_t stamp) {
  size_t low = 0, high = block_count; // blocks[low].start <= stamp < blocks[high].start
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (blocks[middle].start <= stamp) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t order_block_number(uint32_t stamp) { return block_index(stamp); }

bool order_in_running_launch(uint32_t stamp) { return stamp >= launch_start; }

bool order_in_running_block(uint32_t stamp) { return stamp >= block_start; }

bool order_before(const past_access *past, unsigned thread) {
  const uint32_t stamp = past->stamp;
  if (stamp < launch_start) return true;
  if (stamp < block_start) {
    return blocks[block_count - 1].atomic > stamp && blocks[block_index(stamp)].released >= stamp;
  }
  const unsigned actor = past->actor;
  if (stamp <= threads[thread].known[actor]) return true;
  if (actor >= ACTOR_COPIES) return false;
  if ((stamp <= barrier && stamp <= left_after[actor]) || actor == thread) return true;
  const unsigned warp = thread / GPU_WARP_LANES, past_warp = actor / GPU_WARP_LANES;
  return warp_atomic[warp] > stamp && warp_atomic[past_warp] > stamp;
}

bool order_lacks_fence(const past_access *past) {
  return blocks[block_count - 1].atomic > past->stamp &&
         blocks[block_index(past->stamp)].atomic > past->stamp;
}

bool order_exhausted(void) { return now > UINT32_MAX / 2; }

void order_restart(void) {
  now = 1;
  memset(threads, 0, sizeof threads);
  memset(met, 0, sizeof met);
  memset(warp_atomic, 0, sizeof warp_atomic);
  memset(block_fenced, 0, sizeof block_fenced);
  proxy_fence = 0;
}

// The order between blocks: by atomic operations and fences, and by the barrier of a cluster.
#define _GNU_SOURCE
#include "order_state.h"
#include "workers.h"

#include <string.h>

// ---- Which block --------------------------------------------------------------------------------

// The times of the running block.
static order_block_times *own_times(void) {
  const order_launch_state *launch = &order_launch;
  return &launch->times[launch->count - launch->cluster_blocks + order_rank()];
}

// The place in launch->times of the block of a past access. The blocks of a cluster begin at the same time.
static size_t block_index(const past_access *past) {
  const order_launch_state *launch = &order_launch;
  size_t low = 0, high = launch->count; // times[low].start <= stamp < times[high].start
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (launch->times[middle].start <= past->stamp) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low / launch->cluster_blocks * launch->cluster_blocks + past->rank;
}

uint64_t order_block_number(const past_access *past) {
  const unsigned blocks = order_launch.cluster_blocks;
  const size_t index = block_index(past);
  const uint64_t cluster = workers_at_place(order_launch.running, index / blocks);
  return cluster_block_number(order_launch.running, cluster, (unsigned)(index % blocks));
}

bool order_in_running_launch(uint32_t stamp) { return stamp >= order_launch.start; }

bool order_in_running_cluster(uint32_t stamp) { return stamp >= order_launch.cluster_start; }

bool order_in_running_block(const past_access *past) {
  return order_in_running_cluster(past->stamp) && past->rank == order_rank();
}

// ---- Atomic operations --------------------------------------------------------------------------

void order_atomic(unsigned thread, bool global) {
  order_time++;
  if (!global) return;
  order_block_times *block = own_times();
  block->atomic = order_own->global_atomic[thread] = order_time;
  block->released = block->fence;
}

void order_atomic_done(unsigned thread) {
  order_own->warp_atomic[thread / GPU_WARP_LANES] = order_time;
}

static void acquire(uint32_t atomic) {
  order_block_times *block = own_times();
  if (atomic > block->start && atomic > block->acquired) block->acquired = atomic;
}

void order_acquire(unsigned thread) { acquire(order_own->global_atomic[thread]); }

void order_atomics_met(void) {
  order_block_times *block = own_times();
  if (block->atomic <= block->met) return;
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    const uint32_t atomic = order_own->global_atomic[i];
    if (atomic > block->met && order_own->left_after[i] == ORDER_RUNNING) block->met = atomic;
  }
}

// The latest of the threads' last atomic operations on global memory that the thread knows of by a partial barrier. Before
// the block's first one it knows of its own warp alone.
static uint32_t known_atomic(unsigned thread) {
  const order_block_state *own = order_own;
  const unsigned first = thread / GPU_WARP_LANES * GPU_WARP_LANES;
  const unsigned from = own->spread ? 0 : first,
                 to = own->spread ? BLOCK_THREADS_MAX : first + GPU_WARP_LANES;
  uint32_t latest = 0;
  for (unsigned i = from; i < to; i++) {
    const uint32_t atomic = own->global_atomic[i];
    if (atomic > latest && atomic <= own->threads[thread].known[i]) latest = atomic;
  }
  return latest;
}

// A fence is cumulative: it acquires as well for operations of others that its thread knows of.
void order_fence(unsigned thread) {
  order_block_times *block = own_times();
  order_acquire(thread);
  acquire(block->met);
  if (block->atomic > block->acquired) acquire(known_atomic(thread));
  block->fence = order_time++;
}

static bool released(const past_access *past) {
  return order_launch.times[block_index(past)].released >= past->stamp;
}

bool order_lacks_release(const past_access *past) {
  return own_times()->atomic > past->stamp && !released(past) &&
         order_launch.times[block_index(past)].atomic > past->stamp;
}

bool order_lacks_acquire(const past_access *past) {
  return own_times()->atomic > past->stamp && released(past);
}

static bool before_by_atomics(const past_access *past) {
  return own_times()->acquired > past->stamp && released(past);
}

bool order_before_by_shared_atomics(const past_access *past, unsigned thread) {
  const order_block_state *block = &order_blocks[past->rank];
  return order_own->warp_atomic[thread / GPU_WARP_LANES] > past->stamp &&
         block->warp_atomic[past->actor / GPU_WARP_LANES] > past->stamp;
}

// ---- The barrier of a cluster -------------------------------------------------------------------

// The arrivals at the barrier bring these with them: for each block the clocks of its threads, and those of the phase
// that is over and of the one before. No thread is further behind, because each must wait for a phase before it
// arrives for the next one. A thread knows the phase by the stamp of its end, which it passes on like all that it
// knows.
static uint32_t arriving[CLUSTER_BLOCKS_MAX][CLOCK_STAMPS];
typedef struct {
  uint32_t end;
  uint32_t known[CLUSTER_BLOCKS_MAX][CLOCK_STAMPS];
} cluster_phase;
static cluster_phase phases[2];
static unsigned latest; // of the two
// The end of the last phase that the arrivals bring with a fence behind it, see pass_on_fence.
static uint32_t fenced_until;

// The phase that ended at the stamp; NULL: it is none of this cluster, or an older one than the two.
static const cluster_phase *phase_of(uint32_t end) {
  if (!order_in_running_cluster(end)) return NULL;
  if (end >= phases[latest].end) return &phases[latest];
  return end >= phases[1 - latest].end ? &phases[1 - latest] : NULL;
}

static void arrive(unsigned thread) {
  const order_block_state *own = order_own;
  uint32_t *known = arriving[order_rank()];
  order_join_stamps(known, own->threads[thread].known, CLOCK_STAMPS);
  order_join_stamps(known + FENCED, own->block_fenced, BLOCK_THREADS_MAX);
  for (unsigned i = 0; i < BLOCK_THREADS_MAX; i++) {
    const uint32_t stamp = own->barrier < own->left_after[i] ? own->barrier : own->left_after[i];
    if (stamp > known[i]) known[i] = stamp;
  }
  order_join_stamps(known + thread / GPU_WARP_LANES * GPU_WARP_LANES, own->met[thread],
                    GPU_WARP_LANES);
  known[thread] = order_time++;
}

// Fences are treated generously, as before atomic operations: one of any thread of the block will do.
static void arrive_relaxed(unsigned thread) {
  const uint32_t fence = own_times()->fence;
  uint32_t *known = arriving[order_rank()];
  static uint32_t without[CLOCK_STAMPS];
  memcpy(without, known, sizeof without);
  arrive(thread);
  for (unsigned i = 0; i < CLOCK_STAMPS; i++) {
    if (known[i] > fence) known[i] = without[i] > fence ? without[i] : fence;
  }
  order_launch.relaxed = order_time;
}

bool order_relaxed_since(const past_access *past) { return past->stamp < order_launch.relaxed; }

// A fence behind a phase stands behind all accesses that the phase has ordered, those of other blocks among them. The blocks
// for which the thread arrives learn this, too.
static void pass_on_fence(unsigned thread) {
  const cluster_phase *phase = phase_of(order_own->threads[thread].known[ACTOR_CLUSTER_FENCED]);
  if (phase == NULL || phase->end <= fenced_until) return;
  fenced_until = phase->end;
  for (unsigned rank = 0; rank < order_launch.cluster_blocks; rank++)
    order_join_stamps(arriving[rank] + FENCED, phase->known[rank], BLOCK_THREADS_MAX);
}

void order_cluster_arrive(unsigned thread, bool relaxed) {
  if (relaxed) {
    arrive_relaxed(thread);
  } else {
    arrive(thread);
    pass_on_fence(thread);
  }
}

void order_cluster_release(void) {
  latest = 1 - latest;
  memcpy(phases[latest].known, arriving, order_launch.cluster_blocks * sizeof *arriving);
  phases[latest].end = order_time++;
}

void order_cluster_waited(unsigned thread) {
  const cluster_phase *phase = &phases[latest];
  uint32_t *known = order_own->threads[thread].known;
  order_join_stamps(known, phase->known[order_rank()], CLOCK_STAMPS);
  // A thread of any block may have waited for the kernel before.
  for (unsigned rank = 0; rank < order_launch.cluster_blocks; rank++)
    order_join_stamps(&known[ACTOR_EARLIER], &phase->known[rank][ACTOR_EARLIER], 1);
  known[ACTOR_CLUSTER] = phase->end;
  order_own->spread = order_own->learned[thread] = true;
}

// The last phase that the thread knows to be over; NULL: none of this cluster.
static const cluster_phase *known_phase(unsigned thread) {
  return phase_of(order_own->threads[thread].known[ACTOR_CLUSTER]);
}

bool order_knows_cluster(unsigned thread) { return known_phase(thread) != NULL; }

bool order_fenced_in_cluster(const past_access *past, unsigned thread) {
  const cluster_phase *phase = known_phase(thread);
  if (phase != NULL && past->stamp <= phase->known[past->rank][FENCED + past->actor]) return true;
  phase = phase_of(order_own->threads[thread].known[ACTOR_CLUSTER_FENCED]);
  return phase != NULL && past->stamp <= phase->known[past->rank][past->actor];
}

static bool before_in_cluster(const past_access *past, unsigned thread) {
  const cluster_phase *phase = known_phase(thread);
  return phase != NULL && past->stamp <= phase->known[past->rank][past->actor];
}

void order_cluster_restart(void) {
  memset(arriving, 0, sizeof arriving);
  memset(phases, 0, sizeof phases);
  fenced_until = 0;
  order_launch.relaxed = 0;
}

bool order_has_ended(const past_access *past) {
  return past->actor < ACTOR_COPIES &&
         order_blocks[past->rank].left_after[past->actor] != ORDER_RUNNING;
}

bool order_missed_barrier(const past_access *past) {
  return order_in_running_block(past) && past->actor < ACTOR_COPIES &&
         past->stamp <= order_own->barrier && past->stamp > order_own->left_after[past->actor];
}

// ---- All rules ----------------------------------------------------------------------------------

static bool earlier_before(const past_access *past, unsigned thread) {
  return past->stamp < order_launch.unordered ||
         order_in_running_cluster(order_own->threads[thread].known[ACTOR_EARLIER]);
}

// An access of another block, or of an earlier launch.
static bool other_before(const past_access *past, unsigned thread) {
  if (!order_in_running_launch(past->stamp)) return earlier_before(past, thread);
  return before_by_atomics(past) ||
         (order_in_running_cluster(past->stamp) && before_in_cluster(past, thread));
}

bool order_before(const past_access *past, unsigned thread) {
  if (!order_in_running_block(past)) return other_before(past, thread);
  const uint32_t stamp = past->stamp;
  const unsigned actor = past->actor;
  if (stamp <= order_own->threads[thread].known[actor]) return true;
  if (actor >= ACTOR_COPIES) return false;
  if ((stamp <= order_own->barrier && stamp <= order_own->left_after[actor]) || actor == thread)
    return true;
  return order_before_by_shared_atomics(past, thread);
}

#define _GNU_SOURCE
#include "cluster.h"

#include "block.h"
#include "capability.h"
#include "device_launch_parameters.h"
#include "fault.h"
#include "grid_barrier.h"
#include "mbarrier.h"
#include "observer.h"
#include "random.h"
#include "shared_memory.h"
#include "workers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- Which block is where -----------------------------------------------------------------------

uint64_t cluster_block_number(const launch *launch, uint64_t cluster, unsigned rank) {
  const dim3 grid = launch->request->grid, dim = launch->cluster_dim;
  const uint64_t wide = grid.x / dim.x, high = grid.y / dim.y;
  const uint64_t x = cluster % wide * dim.x + rank % dim.x;
  const uint64_t y = cluster / wide % high * dim.y + rank / dim.x % dim.y;
  const uint64_t z = cluster / (wide * high) * dim.z + rank / (dim.x * dim.y);
  return x + grid.x * (y + grid.y * z);
}

// ---- Workers for the further blocks -------------------------------------------------------------

static worker *make_block(worker *lead) {
  worker *made = calloc(1, sizeof *made);
  if (made == NULL || !stacks_create(&made->stacks) || !shared_memory_create(made)) {
    free(made); // its mappings stay, as address space only
    return NULL;
  }
  made->lead = lead;
  return made;
}

// The parked copy keeps the alignment of the thread-local one.
static bool make_parking(worker *block) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = block->launch->static_shared_bytes;
  const size_t needed = (bytes + page - 1) / page * page + page;
  parked_memory *parked = &block->parked;
  if (bytes > 0 && parked->room < needed) {
    char *mapped = mmap(NULL, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return false;
    if (parked->mapped != NULL) munmap(parked->mapped, parked->room);
    *parked = (parked_memory){.mapped = mapped, .room = needed, .ended = parked->ended};
  }
  parked->start = bytes > 0 ? parked->mapped + (uintptr_t)block->static_shared % page : NULL;
  return true;
}

void cluster_of_one(worker *block) {
  block->rank = 0;
  block->alone = (cluster){.size = 1, .blocks = {block}};
  block->cluster = block->coresident = &block->alone;
}

// The block belongs to the blocks that the lead runs, and to its cluster if they are one.
static void join(worker *block, worker *lead, unsigned rank) {
  const launch *launch = lead->launch;
  const dim3 dim = launch->cluster_dim;
  block->rank = rank;
  block->coresident = &lead->led;
  if (launch->whole_grid) return;
  block->cluster = &lead->led;
  block->block.cluster_dim = dim;
  block->block.cluster_rank = rank;
  block->block.cluster_place = (uint3){rank % dim.x, rank / dim.x % dim.y, rank / (dim.x * dim.y)};
}

bool cluster_prepare(worker *lead, unsigned leads) {
  const launch *launch = lead->launch;
  cluster *cluster = &lead->led;
  const dim3 block = launch->request->block;
  // Stacks with guard pages take two of the few mappings that a process may have.
  enum { GUARDED_THREADS_MAX = 20 * 1024 };
  const bool many =
      (uint64_t)leads * launch->cluster_blocks * block.x * block.y * block.z > GUARDED_THREADS_MAX;
  cluster->size = launch->cluster_blocks;
  for (unsigned rank = 0; rank < cluster->size; rank++) {
    if (cluster->blocks[rank] == NULL) cluster->blocks[rank] = rank == 0 ? lead : make_block(lead);
    worker *it = cluster->blocks[rank];
    if (it == NULL) return false;
    it->launch = lead->launch;
    it->counts = (emulator_counts){0};
    block_prepare(it);
    if (!make_parking(it) || (many && !stacks_join(&it->stacks))) return false;
    join(it, lead, rank);
  }
  return true;
}

// ---- Taking turns -------------------------------------------------------------------------------

static void enter(worker *block) {
  current_worker = block;
  blockIdx = block->block.block_index;
  const size_t bytes = block->launch->static_shared_bytes;
  if (bytes > 0) memcpy(block->static_shared, block->parked.start, bytes);
  observer_block_enter(block);
}

static void leave(worker *block) {
  const size_t bytes = block->launch->static_shared_bytes;
  if (bytes > 0) memcpy(block->parked.start, block->static_shared, bytes);
}

// Opens or closes the shared memory of a block for the other ones.
static void set_access(worker *block, bool ended) {
  if (block->parked.ended == ended) return;
  const int protection = ended ? PROT_NONE : PROT_READ | PROT_WRITE;
  block->parked.ended = ended;
  shared_memory_protect(block, protection);
  if (block->parked.mapped != NULL) mprotect(block->parked.mapped, block->parked.room, protection);
}

static void begin(worker *lead, uint64_t number) {
  cluster *cluster = lead->coresident;
  cluster->phase = 0;
  cluster->missing = cluster->size * lead->thread_count;
  observer_cluster_begin(lead);
  for (unsigned rank = 0; rank < cluster->size; rank++) {
    worker *block = cluster->blocks[rank];
    set_access(block, false);
    enter(block);
    block_begin(block, cluster_block_number(lead->launch, number, rank));
    leave(block);
  }
}

static bool is_over(const worker *block, const thread *thread) {
  if (thread->state == THREAD_AT_GRID) return grid_barrier_is_over(block);
  if (thread->state == THREAD_AT_PHASE) return mbarrier_phase_is_over(thread);
  return thread->state == THREAD_AT_CLUSTER && thread->cluster_phase < block->cluster->phase;
}

// The waits of the block's threads that are over since it ran last.
static void wake(worker *block) {
  for (unsigned i = 0; i < block->thread_count; i++)
    if (is_over(block, &block->threads[i])) block_ready(block, &block->threads[i]);
}

// Whether the block, which has not ended, can go on by itself or when another block has done something.
static bool may_go_on(const worker *block) {
  if (block->gives_way || block->cluster->size > 1) return true;
  for (unsigned i = 0; i < block->thread_count; i++)
    if (block->threads[i].state == THREAD_AT_GRID) return true;
  return false;
}

// Returns whether the block did anything.
static bool take_turn(worker *block) {
  enter(block);
  wake(block);
  const bool ran = block_go_on(block);
  const bool ended = block->alive == 0;
  if (ended) block_end(block);
  if (!ended && !may_go_on(block)) fault_deadlock(block);
  leave(block);
  if (ended) set_access(block, true);
  return ran;
}

void cluster_run(worker *lead, uint64_t number) {
  cluster *cluster = lead->coresident;
  begin(lead, number);
  // No block of a cluster is the first on a GPU; a seed changes their order as it changes that of threads.
  uint64_t random = random_start(lead->launch->seed, lead->launch->number, ~number);
  bool any_left = true;
  while (any_left) {
    const unsigned first = lead->shuffled ? (unsigned)random_below(&random, cluster->size) : 0;
    bool any_ran = false;
    any_left = false;
    for (unsigned i = 0; i < cluster->size; i++) {
      worker *block = cluster->blocks[(first + i) % cluster->size];
      if (block->parked.ended) continue;
      any_ran |= take_turn(block);
      any_left |= !block->parked.ended;
    }
    if (any_left && !any_ran) fault_cluster_deadlock(lead);
  }
  observer_cluster_end(lead);
  for (unsigned rank = 1; rank < cluster->size; rank++) {
    worker *block = cluster->blocks[rank];
    workers_add_counts(&lead->counts, &block->counts);
    block->counts = (emulator_counts){0};
  }
  current_worker = lead;
  set_access(lead, false); // an ordinary launch may be next
}

void cluster_abandon(worker *lead) {
  set_access(lead, false);
  for (unsigned rank = 1; rank < CLUSTER_BLOCKS_MAX; rank++) {
    worker *block = lead->led.blocks[rank];
    if (block != NULL) stacks_give_back_all(&block->stacks);
  }
}

// ---- The barrier --------------------------------------------------------------------------------

// All threads have come or exited: the phase is over.
static void open_barrier(worker *worker) {
  cluster *cluster = worker->cluster;
  cluster->phase++;
  cluster->missing = 0;
  for (unsigned rank = 0; rank < cluster->size; rank++) {
    cluster->missing += cluster->blocks[rank]->alive;
    worker->counts.block_barriers += cluster->blocks[rank]->alive > 0;
  }
  if (cluster->missing == 0) return; // the last thread of the cluster has exited
  observer_cluster_release(worker);
  wake(worker); // those of other blocks wake when they have their turn
}

void cluster_thread_exited(worker *worker) {
  cluster *cluster = worker->cluster;
  const thread *self = worker->running;
  if (self->cluster_arrived && self->cluster_phase == cluster->phase) return;
  if (--cluster->missing == 0) open_barrier(worker);
}

static void arrive(worker *worker, const emulator_site *site, bool relaxed) {
  thread *self = worker->running;
  capability_check(worker, 90, "clusters", site);
  history_did(worker, site, NULL);
  if (self->cluster_arrived) {
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: the thread arrives at the cluster's barrier a second time and has "
        "not waited since it arrived first: call barrier_wait() or __cluster_barrier_wait() "
        "between the two",
        site->operation, site->file, site->line);
  }
  self->cluster_arrived = true;
  self->cluster_phase = worker->cluster->phase;
  observer_cluster_arrive(worker, site, relaxed);
  if (--worker->cluster->missing > 0) return;
  open_barrier(worker);
  block_step_aside(worker);
}

static void wait(worker *worker, const emulator_site *site) {
  thread *self = worker->running;
  if (self->cluster_phase == worker->cluster->phase) {
    self->site = site;
    self->state = THREAD_AT_CLUSTER;
    block_wait(worker);
  }
  self->cluster_arrived = false;
  observer_cluster_wait(worker);
}

void emulator_cluster_barrier(const emulator_site *site) {
  worker *worker = current_worker;
  arrive(worker, site, false);
  wait(worker, site);
}

void emulator_cluster_arrive(const emulator_site *site) { arrive(current_worker, site, false); }

void emulator_cluster_arrive_relaxed(const emulator_site *site) {
  arrive(current_worker, site, true);
}

void emulator_cluster_wait(const emulator_site *site) {
  worker *worker = current_worker;
  history_did(worker, site, NULL);
  if (!worker->running->cluster_arrived) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the thread waits at the cluster's barrier and has not arrived "
                   "there: call barrier_arrive() or __cluster_barrier_arrive() first",
                   site->operation, site->file, site->line);
  }
  wait(worker, site);
}

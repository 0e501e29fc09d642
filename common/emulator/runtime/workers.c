// GNU's longjmp with _FORTIFY_SOURCE mistakes a jump from a fiber's stack for a corrupted stack.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "workers.h"

#include "block.h"
#include "environment.h"
#include "fault.h"
#include "grid_barrier.h"
#include "limit.h"
#include "observer.h"
#include "random.h"
#include "shared_memory.h"
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t begun, done;
  launch *launch;
  worker *first;         // of the list
  uint64_t launch_count; // how many have begun
  unsigned workers;      // 0 before the first launch
  unsigned busy;
} worker_pool;

static worker_pool pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                           .begun = PTHREAD_COND_INITIALIZER,
                           .done = PTHREAD_COND_INITIALIZER};

void workers_add_counts(emulator_counts *sum, const emulator_counts *more) {
  sum->blocks += more->blocks;
  sum->threads += more->threads;
  sum->block_barriers += more->block_barriers;
  sum->warp_collectives += more->warp_collectives;
  sum->fiber_switches += more->fiber_switches;
  sum->tensor_core_operations += more->tensor_core_operations;
  sum->async_copy_bytes += more->async_copy_bytes;
  sum->async_copies_dropped += more->async_copies_dropped;
  sum->products_over_copies += more->products_over_copies;
  sum->products_in_the_first_half += more->products_in_the_first_half;
  sum->collectives_under_products += more->collectives_under_products;
  sum->named_barriers += more->named_barriers;
  sum->product_groups_in_turns += more->product_groups_in_turns;
  sum->repeated_arrivals += more->repeated_arrivals;
}

// The guard pages of more threads at the same time would take too many mappings.
enum { GUARDED_THREADS_MAX = 20 * 1024 };

// Runs the block of that number, or the blocks that take turns.
static void run_next(worker *self, launch *launch, uint64_t number) {
  const uint64_t first_block = number * launch->cluster_blocks;
  limit_watch_block(self);
  const uint64_t before = self->counts.tensor_core_operations;
  if (launch->cluster_blocks == 1) {
    block_run(self, number);
  } else {
    cluster_run(self, number);
  }
  if (launch->blocks_wait && first_block < (launch->block_count + 1) / 2) {
    self->counts.products_in_the_first_half += self->counts.tensor_core_operations - before;
  }
}

uint64_t workers_at_place(const launch *launch, uint64_t place) {
  if (!launch->blocks_shuffled) return place;
  const uint64_t count = launch->block_count / launch->cluster_blocks;
  uint64_t random = random_start(launch->seed, launch->number, UINT64_C(1) << 63);
  const bool backwards = random_next(&random) >> 63;
  const uint64_t number = (random_next(&random) % count + place) % count;
  return backwards ? count - 1 - number : number;
}

static void prepare(worker *self, const launch *launch) {
  if (launch->cluster_blocks == 1) {
    block_prepare(self);
  } else if (!cluster_prepare(self, pool.workers)) {
    if (fault_report_begin(self, cudaErrorLaunchOutOfResources)) {
      fault_report_title("No memory for the blocks of a cluster or a cooperative launch: the "
                         "operating system gives this process no more mappings; set EMU_WORKERS to "
                         "a smaller number");
      fault_report_end(self, cudaErrorLaunchOutOfResources);
    }
    fault_leave(self);
  }
}

static void run_blocks(worker *self, launch *launch) {
  const dim3 block = launch->request->block;
  if (launch->request->cooperative &&
      launch->block_count * block.x * block.y * block.z > GUARDED_THREADS_MAX)
    stacks_join(&self->stacks);
  self->launch = launch;
  self->counts = (emulator_counts){0};
  const int left = sigsetjmp(self->abandoned, 0);
  if (left == 0) {
    prepare(self, launch);
    while (!atomic_load(&launch->abandoned)) {
      const uint64_t place = atomic_fetch_add(&launch->next_block, 1);
      if (place >= launch->block_count / launch->cluster_blocks) break;
      run_next(self, launch, workers_at_place(launch, place));
    }
    return;
  }
  emulator_current = NULL;
  if (left == ABANDONED_BY_SIGNAL) fault_report_signal(current_worker);
  if (left == ABANDONED_BY_LIMIT) fault_report_limit(current_worker);
  current_worker = self;
  stacks_give_back_all(&self->stacks);
  cluster_abandon(self);
}

static void *worker_main(void *argument) {
  worker *self = argument;
  current_worker = self;
  uint64_t seen = self->launches_before;
  pthread_mutex_lock(&pool.mutex);
  for (;;) {
    while (pool.launch_count == seen) pthread_cond_wait(&pool.begun, &pool.mutex);
    seen = pool.launch_count;
    launch *launch = pool.launch;
    pthread_mutex_unlock(&pool.mutex);
    run_blocks(self, launch);
    limit_watch_block(self);
    pthread_mutex_lock(&pool.mutex);
    workers_add_counts(&launch->counts, &self->counts);
    if (--pool.busy == 0) pthread_cond_signal(&pool.done);
  }
  return NULL;
}

static void *worker_begin(void *argument) {
  // Without a stack for signals, an overflow of a fiber's stack ends the process, which is no worse.
  signals_prepare_worker(argument);
  limit_watch_worker(argument);
  return worker_main(argument);
}

static bool make_worker(void) {
  worker *worker = calloc(1, sizeof *worker);
  if (worker != NULL) {
    worker->launches_before = pool.launch_count; // they are not for this worker
    worker->lead = worker;
    cluster_of_one(worker);
  }
  if (worker == NULL || !stacks_create(&worker->stacks) || !shared_memory_create(worker) ||
      pthread_create(&worker->watch.thread, NULL, worker_begin, worker) != 0) {
    free(worker); // its mappings stay, as address space only; memory has run out
    return false;
  }
  pthread_detach(worker->watch.thread);
  worker->next = pool.first;
  pool.first = worker;
  return true;
}

static void make_workers(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  uint64_t wanted = environment_number("EMU_WORKERS", cores > 0 ? (uint64_t)cores : 1, 1, 1024);
  if (wanted > observer_workers()) wanted = observer_workers();
  static bool prepared;
  if (!prepared) {
    prepared = true;
    signals_install();
    limit_install();
  }
  while (pool.workers < wanted && make_worker()) pool.workers++;
}

// Waits until the pool's workers are done (true) or the seconds are over. The caller must hold the mutex.
static bool wait_for_workers(double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  const double end = seconds + 1e-9 * (double)until.tv_nsec;
  until.tv_sec += (time_t)end;
  until.tv_nsec = (long)(1e9 * (end - (double)(time_t)end));
  while (pool.busy > 0) {
    if (pthread_cond_timedwait(&pool.done, &pool.mutex, &until) == ETIMEDOUT) break;
  }
  return pool.busy == 0;
}

bool workers_run(launch *launch) {
  if (pool.workers == 0) make_workers();
  if (pool.workers == 0) return false;
  if (launch->request->cooperative) grid_barrier_begin();
  if (launch->request->cooperative && !launch->whole_grid) { // each block has a worker
    while (pool.workers < launch->block_count && make_worker()) pool.workers++;
    if (pool.workers < launch->block_count) return false;
  }
  pthread_mutex_lock(&pool.mutex);
  pool.launch = launch;
  pool.launch_count++;
  pool.busy = pool.workers;
  pthread_cond_broadcast(&pool.begun);
  double seconds = limit_look(NULL, NULL);
  while (!wait_for_workers(seconds)) seconds = limit_look(pool.first, launch);
  pthread_mutex_unlock(&pool.mutex);
  return true;
}

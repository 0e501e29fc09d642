// One thread of each block waits for the other blocks, between two barriers of its block. Where each block has an OS
// thread of its own, that one waits; where the blocks take turns, it is the block that waits.
#define _GNU_SOURCE
#include "grid_barrier.h"

#include "block.h"
#include "fault.h"
#include "observer.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards these, of the launch that runs:
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t arrived, phase, ended;

void grid_barrier_begin(void) {
  pthread_mutex_lock(&mutex);
  arrived = phase = ended = 0;
  pthread_mutex_unlock(&mutex);
}

void grid_barrier_block_ended(const launch *launch) {
  if (!launch->request->cooperative) return;
  pthread_mutex_lock(&mutex);
  ended++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

// How many blocks have ended without coming, when the worker's block waits for nothing else; else 0. The caller must
// hold the mutex.
static uint64_t missing(const worker *worker) {
  const bool waits = phase == worker->grid_phase;
  return waits && arrived + ended == worker->launch->block_count ? ended : 0;
}

bool grid_barrier_is_over(const worker *worker) {
  pthread_mutex_lock(&mutex);
  const bool over = phase != worker->grid_phase || missing(worker) > 0;
  pthread_mutex_unlock(&mutex);
  return over;
}

static void arrive(worker *worker) {
  observer_grid_arrive(worker);
  pthread_mutex_lock(&mutex);
  worker->grid_phase = phase;
  if (++arrived == worker->launch->block_count) {
    arrived = 0;
    phase++;
    observer_grid_release(worker);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
}

static void pause_a_moment(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&changed, &mutex, &until);
}

// The OS thread waits for those of the other blocks.
static void wait_for_workers(worker *worker) {
  const launch *launch = worker->launch;
  pthread_mutex_lock(&mutex);
  while (phase == worker->grid_phase && missing(worker) == 0 && !atomic_load(&launch->abandoned))
    pause_a_moment();
  const bool abandoned = phase == worker->grid_phase && atomic_load(&launch->abandoned);
  pthread_mutex_unlock(&mutex);
  if (abandoned) fault_leave(worker);
}

static void wait(worker *worker, const emulator_site *site) {
  if (!worker->launch->whole_grid) {
    wait_for_workers(worker);
  } else if (!grid_barrier_is_over(worker)) {
    worker->running->site = site;
    worker->running->state = THREAD_AT_GRID;
    block_wait(worker);
  }
  pthread_mutex_lock(&mutex);
  const uint64_t never_come = missing(worker);
  pthread_mutex_unlock(&mutex);
  if (never_come > 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: deadlock: %llu block%s ended and never come%s to this barrier",
                   site->operation, site->file, site->line, (unsigned long long)never_come,
                   never_come == 1 ? " has" : "s have", never_come == 1 ? "s" : "");
  }
  observer_grid_wait(worker);
}

static bool is_first_alive(const worker *worker) {
  unsigned i = 0;
  while (worker->threads[i].state == THREAD_EXITED) i++;
  return i == worker->running->index;
}

void emulator_grid_barrier(const emulator_site *site) {
  worker *worker = current_worker;
  const launch *launch = worker->launch;
  if (!launch->request->cooperative) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the launch is not cooperative, so its blocks cannot wait for each "
                   "other: launch the kernel with cudaLaunchCooperativeKernel",
                   site->operation, site->file, site->line);
  }
  emulator_block_barrier(0, site);
  if (launch->block_count == 1) return;
  if (is_first_alive(worker)) {
    arrive(worker);
    wait(worker, site);
  }
  emulator_block_barrier(0, site);
}

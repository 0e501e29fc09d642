// Each block of a cooperative launch has a worker of its own, and its worker's thread waits for the others.
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

void grid_barrier_block_ended(launch *launch) {
  if (!launch->request->cooperative) return;
  pthread_mutex_lock(&mutex);
  ended++;
  pthread_cond_broadcast(&changed);
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

// Waits for the other blocks. Returns how many have ended without coming; 0 when all have come.
static uint64_t wait_for_blocks(worker *worker) {
  launch *launch = worker->launch;
  uint64_t missing = 0;
  bool abandoned = false;
  pthread_mutex_lock(&mutex);
  const uint64_t own_phase = phase;
  if (++arrived == launch->block_count) {
    arrived = 0;
    phase++;
    pthread_cond_broadcast(&changed);
  }
  while (phase == own_phase && !abandoned && missing == 0) {
    if (arrived + ended == launch->block_count) missing = ended;
    if (missing == 0) pause_a_moment();
    abandoned = atomic_load(&launch->abandoned);
  }
  pthread_mutex_unlock(&mutex);
  if (abandoned && phase == own_phase) fault_leave(worker);
  return missing;
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
  if (launch->block_count > 1 && observer_workers() == 1) {
    emulator_fault(cudaErrorNotSupported,
                   "%s in %s:%d: the emulator watches one block after the other, so blocks cannot "
                   "wait for each other: launch one block, or run without sanitize and count",
                   site->operation, site->file, site->line);
  }
  emulator_block_barrier(0, site);
  if (launch->block_count == 1) return;
  if (is_first_alive(worker)) {
    const uint64_t missing = wait_for_blocks(worker);
    if (missing > 0) {
      emulator_fault(cudaErrorLaunchFailure,
                     "%s in %s:%d: deadlock: %llu blocks have ended and never come to this barrier",
                     site->operation, site->file, site->line, (unsigned long long)missing);
    }
  }
  emulator_block_barrier(0, site);
}

// Host threads that wait for the queues, or ask.
#define _GNU_SOURCE
#include "errors.h"
#include "queue_state.h"
#include "stuck.h"

#include <stdlib.h>
#include <time.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static host_thread *threads; // never freed, because a communicator may name one that has ended

static void thread_ends(void *thread) {
  queue_lock();
  ((host_thread *)thread)->ended = true;
  queue_changed();
  queue_unlock();
}

static void make_key(void) { pthread_key_create(&key, thread_ends); }

host_thread *queue_thread(void) {
  pthread_once(&once, make_key);
  host_thread *thread = pthread_getspecific(key);
  if (thread != NULL) return thread;
  thread = calloc(1, sizeof *thread);
  if (thread == NULL) abort();
  thread->next = threads;
  threads = thread;
  pthread_setspecific(key, thread);
  return thread;
}

bool queue_thread_idle(const host_thread *thread, double patience) {
  const bool seen = thread->polled == queues.version;
  return (seen && thread->waiting) || ((seen || thread->ended) && queue_quiet_seconds() > patience);
}

void queue_pause(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  host_thread *thread = queue_thread();
  thread->waiting = true;
  thread->polled = queues.version;
  pthread_cond_timedwait(&queues.changed, &queues.mutex, &until);
  thread->waiting = false;
}

cudaError_t queue_wait(moment when) {
  const int device = when.stream->device;
  queue_lock();
  while (!queue_reached(when)) {
    if (queues.running != NULL) {
      pthread_cond_wait(&queues.changed, &queues.mutex);
    } else if (!queue_work(when)) {
      if (stuck_for_good(when, true)) {
        errors_set_sticky(device, cudaErrorLaunchFailure);
        queue_drop_device(device);
      } else {
        queue_pause();
      }
    }
  }
  queue_unlock();
  return errors_sticky_of(device);
}

cudaError_t queue_query(moment when) {
  queue_lock();
  if (!queue_reached(when) && queues.running == NULL && !queue_work(when)) {
    stuck_for_good(when, false);
    queue_thread()->polled = queues.version;
  }
  const bool done = queue_reached(when);
  queue_unlock();
  const cudaError_t error = errors_sticky_of(when.stream->device);
  return error != cudaSuccess ? error : done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t queue_wait_device(int device) {
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    queue_lock();
    const moment end = {stream, stream->queued};
    const bool wait = stream->device == device && !queue_reached(end);
    queue_unlock();
    if (wait) queue_wait(end);
  }
  return errors_sticky_of(device);
}

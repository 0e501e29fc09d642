#define _GNU_SOURCE
#include "queue.h"

#include "errors.h"
#include "memory.h"
#include "stuck.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct CUstream_st defaults[DEVICES_MAX] = {
    {.device = 0}, {.device = 1}, {.device = 2}, {.device = 3},
    {.device = 4}, {.device = 5}, {.device = 6}, {.device = 7}}; // the default streams
static cudaStream_t streams;                                     // the list of all others
static uint64_t tickets, version = 1;
static double changed_at;
static const operation *running; // a kernel, without the lock

void queue_lock(void) { pthread_mutex_lock(&mutex); }

void queue_unlock(void) { pthread_mutex_unlock(&mutex); }

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double queue_quiet_seconds(void) { return running != NULL ? 0 : seconds_now() - changed_at; }

// ---- Streams ------------------------------------------------------------------------------------

cudaStream_t queue_stream_of(cudaStream_t stream, int device) {
  if (stream != NULL && stream != cudaStreamLegacy && stream != cudaStreamPerThread) return stream;
  return &defaults[device];
}

cudaStream_t queue_stream(cudaStream_t stream) {
  return queue_stream_of(stream, devices_current());
}

static bool is_default(const struct CUstream_st *stream) {
  return stream == &defaults[stream->device];
}

void queue_add_stream(cudaStream_t stream) {
  queue_lock();
  stream->next = streams;
  streams = stream;
  queue_unlock();
}

// Goes through the default streams and then through the others; NULL begins, and NULL ends.
static cudaStream_t next_stream(const struct CUstream_st *stream) {
  if (stream == NULL) return &defaults[0];
  if (!is_default(stream)) return stream->next;
  return stream + 1 < defaults + DEVICES_MAX ? &defaults[stream + 1 - defaults] : streams;
}

bool queue_reached(moment when) { return when.stream->done >= when.number; }

moment queue_end(cudaStream_t stream) {
  queue_lock();
  stream = queue_stream(stream);
  const moment end = {stream, stream->queued};
  queue_unlock();
  return end;
}

// ---- Operations ---------------------------------------------------------------------------------

operation *queue_make(const operation_class *class, size_t data_bytes) {
  enum { ALIGNMENT = 128 }; // that of the largest argument of a kernel, a tensor map
  operation *made = calloc(1, sizeof *made);
  const size_t bytes = (data_bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
  void *data = aligned_alloc(ALIGNMENT, bytes);
  if (made == NULL || data == NULL) {
    free(made);
    free(data);
    return NULL;
  }
  made->class = class;
  made->data = memset(data, 0, bytes);
  return made;
}

bool queue_after(operation *operation, moment when) {
  moment *larger =
      realloc(operation->after, (operation->after_count + 1) * sizeof *operation->after);
  if (larger == NULL) return false;
  larger[operation->after_count++] = when;
  operation->after = larger;
  return true;
}

// The default stream waits for the device's other streams, and they for it, unless they are made not to (CUDA C++
// Programming Guide, "Default Stream").
static void order_by_default_stream(operation *operation, cudaStream_t stream) {
  if ((stream->flags & cudaStreamNonBlocking) != 0) return;
  for (cudaStream_t other = next_stream(NULL); other != NULL; other = next_stream(other)) {
    const bool ordered = other->device == stream->device && other != stream &&
                         (other->flags & cudaStreamNonBlocking) == 0 &&
                         (is_default(stream) || is_default(other));
    const moment end = {other, other->queued};
    if (ordered && !queue_reached(end)) queue_after(operation, end);
  }
}

moment queue_add_locked(operation *operation, cudaStream_t stream) {
  stream = queue_stream(stream);
  order_by_default_stream(operation, stream);
  operation->stream = stream;
  operation->number = ++stream->queued;
  operation->ticket = ++tickets;
  *(stream->first != NULL ? &stream->last->next : &stream->first) = operation;
  stream->last = operation;
  const moment end = {stream, operation->number};
  if (errors_sticky_of(stream->device) != cudaSuccess) queue_drop_device(stream->device);
  queue_changed();
  return end;
}

moment queue_add(operation *operation, cudaStream_t stream) {
  queue_lock();
  const moment end = queue_add_locked(operation, stream);
  queue_unlock();
  return end;
}

void queue_complete(operation *operation, bool dropped) {
  cudaStream_t stream = operation->stream;
  stream->first = operation->next;
  if (stream->first == NULL) stream->last = NULL;
  stream->done = operation->number;
  if (operation->class->end != NULL) operation->class->end(operation, dropped);
  free(operation->after);
  free(operation->data);
  free(operation);
}

void queue_drop_device(int device) {
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    while (stream->device == device && stream->first != NULL && stream->first != running) {
      queue_complete(stream->first, true);
    }
  }
  queue_changed();
}

static bool may_begin(const operation *operation) {
  for (unsigned i = 0; i < operation->after_count; i++) {
    if (!queue_reached(operation->after[i])) return false;
  }
  return true;
}

// Begins what can begin and is no kernel. True if it has done anything.
static bool begin_all(void) {
  bool any = false;
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    for (operation *first = stream->first;
         first != NULL && !first->begun && first->class->run == NULL && may_begin(first);
         first = stream->first) {
      any = true;
      if (first->class->deliver == NULL) { // it only has its place in the order
        queue_complete(first, false);
      } else {
        first->begun = true;
        if (first->class->begin != NULL) first->class->begin(first);
      }
    }
  }
  return any;
}

void queue_changed(void) {
  version++;
  changed_at = seconds_now();
  while (running == NULL && begin_all()) continue;
  pthread_cond_broadcast(&changed);
}

// ---- A piece of work ----------------------------------------------------------------------------

// The kernel that the host queued first of those that can run.
static operation *next_kernel(void) {
  operation *oldest = NULL;
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    operation *first = stream->first;
    if (first != NULL && first->class->run != NULL && may_begin(first) &&
        (oldest == NULL || first->ticket < oldest->ticket)) {
      oldest = first;
    }
  }
  return oldest;
}

static void run_kernel(operation *kernel) {
  const int device = kernel->stream->device;
  running = kernel;
  queue_unlock();
  kernel->class->run(kernel);
  queue_lock();
  running = NULL;
  queue_complete(kernel, false);
  if (errors_sticky_of(device) != cudaSuccess) queue_drop_device(device);
  queue_changed();
}

// A transfer whose delivery brings the moment nearer; NULL if there is none.
static operation *find_transfer(moment when) {
  cudaStream_t stream = when.stream;
  if (queue_reached(when) || stream->visited) return NULL;
  stream->visited = true;
  operation *first = stream->first, *found = NULL;
  for (unsigned i = 0; i < first->after_count && found == NULL; i++) {
    found = find_transfer(first->after[i]);
  }
  if (found != NULL || !first->begun) return found;
  if (first->class->can_deliver == NULL || first->class->can_deliver(first)) return first;
  moment next;
  for (unsigned i = 0; found == NULL && first->class->needs(first, i, &next); i++) {
    if (next.stream != NULL) found = find_transfer(next);
  }
  return found;
}

void queue_forget_visits(void) {
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    stream->visited = false;
  }
}

static operation *transfer_towards(moment when) {
  queue_forget_visits();
  return find_transfer(when);
}

// First the transfers for which kernels wait, so that each kernel runs as early as it can.
static operation *next_transfer(moment when) {
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    const operation *kernel = stream->first;
    while (kernel != NULL && kernel->class->run == NULL) kernel = kernel->next;
    if (kernel == NULL) continue;
    operation *found = transfer_towards((moment){stream, kernel->number});
    if (found != NULL) return found;
  }
  return transfer_towards(when);
}

// False if nothing can be done before another host thread calls the emulator.
static bool work(moment when) {
  operation *next = next_kernel();
  if (next != NULL) {
    run_kernel(next);
    return true;
  }
  next = next_transfer(when);
  if (next == NULL) return false;
  if (next->class->deliver(next)) queue_complete(next, false);
  queue_changed();
  return true;
}

static operation *oldest_transfer(void) {
  operation *oldest = NULL;
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    operation *first = stream->first;
    if (first != NULL && first->begun && first->class->deliver != NULL &&
        (first->class->can_deliver == NULL || first->class->can_deliver(first)) &&
        (oldest == NULL || first->ticket < oldest->ticket)) {
      oldest = first;
    }
  }
  return oldest;
}

void queue_deliver_to_running(void) {
  queue_lock();
  operation *next = running != NULL ? oldest_transfer() : NULL;
  if (next != NULL) {
    memory_open(); // while the bytes move
    if (next->class->deliver(next)) queue_complete(next, false);
    while (begin_all()) continue;
    memory_close_to(running->stream->device);
    version++;
    pthread_cond_broadcast(&changed);
  }
  queue_unlock();
}

// ---- Host threads that wait ---------------------------------------------------------------------

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

bool queue_thread_idle(const host_thread *thread) {
  const double ASKS_SECONDS = 1; // one that asks may also do something else before it asks again
  return thread->ended ||
         (thread->polled == version && (thread->waiting || queue_quiet_seconds() > ASKS_SECONDS));
}

void queue_pause(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50 * 1000 * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  host_thread *thread = queue_thread();
  thread->waiting = true;
  thread->polled = version;
  pthread_cond_timedwait(&changed, &mutex, &until);
  thread->waiting = false;
}

cudaError_t queue_wait(moment when) {
  const int device = when.stream->device;
  queue_lock();
  while (!queue_reached(when)) {
    if (running != NULL) {
      pthread_cond_wait(&changed, &mutex);
    } else if (!work(when)) {
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
  if (!queue_reached(when) && running == NULL && !work(when)) {
    stuck_for_good(when, false);
    queue_thread()->polled = version;
  }
  const bool done = queue_reached(when);
  queue_unlock();
  const cudaError_t error = errors_sticky_of(when.stream->device);
  return error != cudaSuccess ? error : done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t queue_wait_device(int device) {
  for (cudaStream_t stream = next_stream(NULL); stream != NULL; stream = next_stream(stream)) {
    queue_lock();
    const moment end = {stream, stream->queued};
    const bool wait = stream->device == device && !queue_reached(end);
    queue_unlock();
    if (wait) queue_wait(end);
  }
  return errors_sticky_of(device);
}

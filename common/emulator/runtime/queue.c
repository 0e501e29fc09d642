#define _GNU_SOURCE
#include "queue_state.h"

#include "errors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

queue_state queues = {
    .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .version = 1};
static struct CUstream_st defaults[DEVICES_MAX] = {
    {.device = 0}, {.device = 1}, {.device = 2}, {.device = 3},
    {.device = 4}, {.device = 5}, {.device = 6}, {.device = 7}}; // the default streams
static cudaStream_t streams;                                     // the list of all others
static uint64_t tickets;
// The number of the present count of copies. It begins with 1, so that no stream is behind a kernel at first.
static uint64_t counting = 1;
static uint64_t copies_behind_kernels;

void queue_lock(void) { pthread_mutex_lock(&queues.mutex); }

void queue_unlock(void) { pthread_mutex_unlock(&queues.mutex); }

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double queue_quiet_seconds(void) {
  return queues.running != NULL ? 0 : seconds_now() - queues.changed_at;
}

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

cudaStream_t queue_next_stream(const struct CUstream_st *stream) {
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

// ---- Copies behind kernels ----------------------------------------------------------------------

uint64_t queue_copies_behind_kernels(void) {
  queue_lock();
  const uint64_t copies = copies_behind_kernels;
  queue_unlock();
  return copies;
}

void queue_count_copies(void) {
  queue_lock();
  copies_behind_kernels = 0;
  counting++;
  queue_unlock();
}

void queue_follow(cudaStream_t stream, const event *event) {
  if (event->behind > stream->behind) stream->behind = event->behind;
}

void queue_note_copy(cudaStream_t stream) { copies_behind_kernels += stream->behind == counting; }

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
  for (cudaStream_t other = NULL; (other = queue_next_stream(other)) != NULL;) {
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
  if (operation->class->run != NULL) stream->behind = counting;
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
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    while (stream->device == device && stream->first != NULL && stream->first != queues.running) {
      queue_complete(stream->first, true);
    }
  }
  queue_changed();
}

bool queue_may_begin(const operation *operation) {
  for (unsigned i = 0; i < operation->after_count; i++) {
    if (!queue_reached(operation->after[i])) return false;
  }
  return true;
}

// Begins what can begin and is no kernel. True if it has done anything.
bool queue_begin_all(void) {
  bool any = false;
  for (cudaStream_t stream = NULL; (stream = queue_next_stream(stream)) != NULL;) {
    for (operation *first = stream->first;
         first != NULL && !first->begun && first->class->run == NULL && queue_may_begin(first);
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
  queues.version++;
  queues.changed_at = seconds_now();
  while (queues.running == NULL && queue_begin_all()) continue;
  pthread_cond_broadcast(&queues.changed);
}

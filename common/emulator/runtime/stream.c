// Streams and events. On one device every operation has finished when its call returns, so a stream never
// waits, and an event holds the time at which it was recorded. On several devices queue.h has the order.
#define _GNU_SOURCE
#include "devices.h"
#include "errors.h"
#include "graph.h"
#include "observer.h"
#include "queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };
enum { ID_LEGACY = 1, ID_PER_THREAD = 2 };

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_default_stream(cudaStream_t stream) {
  return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
  devices_use_runtime();
  RETURN_IF_STICKY();
  if (stream == NULL || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) {
    return errors_record(cudaErrorInvalidValue);
  }
  if (priority < PRIORITY_GREATEST) priority = PRIORITY_GREATEST;
  if (priority > PRIORITY_LEAST) priority = PRIORITY_LEAST;
  *stream = malloc(sizeof **stream);
  if (*stream == NULL) return errors_record(cudaErrorMemoryAllocation);
  static _Atomic uint64_t last_id = ID_PER_THREAD;
  **stream = (struct CUstream_st){
      .flags = flags, .priority = priority, .device = devices_current(), .id = ++last_id};
  if (devices_several()) queue_add_stream(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, PRIORITY_LEAST);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, PRIORITY_LEAST);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
  RETURN_IF_STICKY();
  if (flags == NULL) return errors_record(cudaErrorInvalidValue);
  *flags = is_default_stream(stream) ? cudaStreamDefault : stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  RETURN_IF_STICKY();
  if (priority == NULL) return errors_record(cudaErrorInvalidValue);
  *priority = is_default_stream(stream) ? PRIORITY_LEAST : stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  RETURN_IF_STICKY();
  if (id == NULL) return errors_record(cudaErrorInvalidValue);
  *id = !is_default_stream(stream)      ? stream->id
        : stream == cudaStreamPerThread ? ID_PER_THREAD
                                        : ID_LEGACY;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  RETURN_IF_STICKY();
  if (device == NULL) return errors_record(cudaErrorInvalidValue);
  *device = is_default_stream(stream) ? devices_current() : stream->device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  RETURN_IF_STICKY();
  if (least != NULL) *least = PRIORITY_LEAST;
  if (greatest != NULL) *greatest = PRIORITY_GREATEST;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (is_default_stream(stream)) return errors_record(cudaErrorInvalidResourceHandle);
  if (!devices_several()) free(stream); // else its queued operations are still to come
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t refused = graph_refuses_wait(stream);
  if (refused != cudaSuccess) return refused;
  const cudaError_t error = devices_several() ? queue_wait(queue_end(stream)) : errors_sticky();
  observer_launches_apart();
  return errors_record(error);
}

// Returns the answer of a query.
static cudaError_t answered(cudaError_t error) {
  if (error == cudaSuccess) observer_launches_apart();
  return errors_record(error);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const cudaError_t refused = graph_refuses_wait(stream);
  if (refused != cudaSuccess) return refused;
  return answered(devices_several() ? queue_query(queue_end(stream)) : errors_sticky());
}

// ---- Events -------------------------------------------------------------------------------------

// An event lives as long as the program or a queued operation names it.
static void drop_reference(event *event) {
  if (--event->references == 0) free(event);
}

static const operation_class waits; // an operation that only has its place in the order

static void event_happens(operation *operation, bool dropped) {
  (void)dropped;
  event *event = *(struct CUevent_st **)operation->data;
  event->seconds = seconds_now();
  drop_reference(event);
}

static const operation_class records = {.end = event_happens};

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  if (flags != cudaEventWaitDefault) return errors_record(cudaErrorInvalidValue);
  bool captured;
  const cudaError_t error = graph_capture_wait(stream, event, &captured);
  if (captured || error != cudaSuccess) return error;
  observer_launches_apart();
  if (!devices_several() || !event->recorded) return cudaSuccess;
  operation *wait = queue_make(&waits, 0);
  if (wait == NULL || !queue_after(wait, event->when)) {
    return errors_record(cudaErrorMemoryAllocation);
  }
  queue_lock();
  queue_add_locked(wait, stream);
  queue_follow(queue_stream(stream), event);
  queue_unlock();
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  RETURN_IF_STICKY();
  const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == NULL || (flags & ~known) != 0) return errors_record(cudaErrorInvalidValue);
  *event = malloc(sizeof **event);
  if (*event == NULL) return errors_record(cudaErrorMemoryAllocation);
  **event = (struct CUevent_st){.flags = flags, .device = devices_current(), .references = 1};
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  queue_lock();
  drop_reference(event);
  queue_unlock();
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (event == NULL || (devices_several() && queue_stream(stream)->device != event->device)) {
    return errors_record(cudaErrorInvalidResourceHandle);
  }
  bool captured;
  graph_capture_record(event, stream, &captured);
  if (captured) return cudaSuccess;
  event->recorded = true;
  event->seconds = seconds_now();
  if (!devices_several()) return cudaSuccess;
  operation *record = queue_make(&records, sizeof event);
  if (record == NULL) return errors_record(cudaErrorMemoryAllocation);
  *(struct CUevent_st **)record->data = event;
  queue_lock();
  event->references++;
  event->when = queue_add_locked(record, stream);
  event->behind = event->when.stream->behind;
  queue_unlock();
  return cudaSuccess;
}

// The other flag is for events that are recorded in a capture and waited for outside of it.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags == cudaEventRecordDefault) return cudaEventRecord(event, stream);
  return errors_record(flags == cudaEventRecordExternal ? cudaErrorIllegalState
                                                        : cudaErrorInvalidValue);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  const cudaError_t refused = graph_refuses_event(event);
  if (refused != cudaSuccess) return refused;
  return answered(devices_several() && event->recorded ? queue_wait(event->when) : cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  const cudaError_t refused = graph_refuses_event(event);
  if (refused != cudaSuccess) return refused;
  return answered(devices_several() && event->recorded ? queue_query(event->when) : cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  RETURN_IF_STICKY();
  if (milliseconds == NULL) return errors_record(cudaErrorInvalidValue);
  if (start == NULL || end == NULL || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return errors_record(cudaErrorInvalidResourceHandle);
  }
  if (devices_several() &&
      (queue_query(start->when) != cudaSuccess || queue_query(end->when) != cudaSuccess)) {
    return errors_record(cudaErrorNotReady);
  }
  *milliseconds = (float)((end->seconds - start->seconds) * 1e3);
  return cudaSuccess;
}

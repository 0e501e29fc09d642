// Streams and events. Every operation has finished when its call returns, so
// a stream never waits, and an event holds the time at which it was recorded.
#define _GNU_SOURCE
#include "errors.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

struct CUstream_st {
  unsigned flags;
  int priority;
};

struct CUevent_st {
  unsigned flags;
  bool recorded;
  struct timespec time;
};

static bool is_default_stream(cudaStream_t stream) {
  return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
  RETURN_IF_STICKY();
  if (stream == NULL || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) {
    return errors_record(cudaErrorInvalidValue);
  }
  if (priority < PRIORITY_GREATEST) priority = PRIORITY_GREATEST;
  if (priority > PRIORITY_LEAST) priority = PRIORITY_LEAST;
  *stream = malloc(sizeof **stream);
  if (*stream == NULL) return errors_record(cudaErrorMemoryAllocation);
  **stream = (struct CUstream_st){.flags = flags, .priority = priority};
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

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  RETURN_IF_STICKY();
  if (least != NULL) *least = PRIORITY_LEAST;
  if (greatest != NULL) *greatest = PRIORITY_GREATEST;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RETURN_IF_STICKY();
  if (is_default_stream(stream)) return errors_record(cudaErrorInvalidResourceHandle);
  free(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  return errors_record(errors_sticky());
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  (void)stream;
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  return flags == cudaEventWaitDefault ? cudaSuccess : errors_record(cudaErrorInvalidValue);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  RETURN_IF_STICKY();
  const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (event == NULL || (flags & ~known) != 0) return errors_record(cudaErrorInvalidValue);
  *event = malloc(sizeof **event);
  if (*event == NULL) return errors_record(cudaErrorMemoryAllocation);
  **event = (struct CUevent_st){.flags = flags};
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)stream;
  RETURN_IF_STICKY();
  if (event == NULL) return errors_record(cudaErrorInvalidResourceHandle);
  clock_gettime(CLOCK_MONOTONIC, &event->time);
  event->recorded = true;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RETURN_IF_STICKY();
  return event != NULL ? cudaSuccess : errors_record(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  RETURN_IF_STICKY();
  if (milliseconds == NULL) return errors_record(cudaErrorInvalidValue);
  if (start == NULL || end == NULL || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return errors_record(cudaErrorInvalidResourceHandle);
  }
  const double seconds = (double)(end->time.tv_sec - start->time.tv_sec);
  const double nanoseconds = (double)(end->time.tv_nsec - start->time.tv_nsec);
  *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
  return cudaSuccess;
}

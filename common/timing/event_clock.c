#include "timing/event_clock.h"

#include "device/device.h"

// An event is stamped when the GPU gets to it. With nothing else to do the GPU would get to the first
// one at once, and the time until the host has enqueued the launch would count. So the GPU is kept busy
// meanwhile.
static cudaError_t start(void *context, cudaStream_t stream) {
  const event_pair *events = context;
  const cudaError_t status = device_delay(stream);
  return status != cudaSuccess ? status : cudaEventRecord(events->before, stream);
}

static cudaError_t stop(void *context, cudaStream_t stream, float *milliseconds) {
  const event_pair *events = context;
  cudaError_t status = cudaEventRecord(events->after, stream);
  if (status == cudaSuccess) status = device_wait_event(events->after);
  if (status == cudaSuccess) {
    status = cudaEventElapsedTime(milliseconds, events->before, events->after);
  }
  return status;
}

bool event_clock_open(event_pair *events, timing_clock *clock, error_text *error) {
  *events = (event_pair){0};
  *clock = (timing_clock){start, stop, events};
  if (device_ok(cudaEventCreate(&events->before), "creating an event", error) &&
      device_ok(cudaEventCreate(&events->after), "creating an event", error)) {
    return true;
  }
  event_clock_close(events);
  return false;
}

void event_clock_close(event_pair *events) {
  if (events->before) cudaEventDestroy(events->before);
  if (events->after) cudaEventDestroy(events->after);
  *events = (event_pair){0};
}

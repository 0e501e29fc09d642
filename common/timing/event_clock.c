#define _GNU_SOURCE
#include "timing/event_clock.h"

#include "device/device.h"
#include <time.h>

long long event_next_spin(long long spin, bool late) {
  spin = late ? 2 * spin : spin - spin / 8;
  return spin < EVENT_LEAST_SPIN  ? EVENT_LEAST_SPIN
         : spin > EVENT_MOST_SPIN ? EVENT_MOST_SPIN
                                  : spin;
}

// An event is stamped when the GPU reaches it. An idle GPU would reach the first event at once, and the time
// until the host has enqueued the launch would be measured too. So a spinning kernel keeps the GPU busy
// meanwhile.
static cudaError_t start(void *context, cudaStream_t stream) {
  const event_pair *events = context;
  const cudaError_t status = device_delay(events->spin, stream);
  return status != cudaSuccess ? status : cudaEventRecord(events->before, stream);
}

// The spin was long enough if everything is enqueued and the first event has not happened yet.
static cudaError_t stop(void *context, cudaStream_t stream, float *milliseconds, bool *in_time) {
  event_pair *events = context;
  cudaError_t status = cudaEventRecord(events->after, stream);
  if (status != cudaSuccess) return status;
  *in_time = !device_runs_behind() || cudaEventQuery(events->before) == cudaErrorNotReady;
  cudaGetLastError(); // "not ready" is no error, and the next launch must not take it for its own
  events->spin = event_next_spin(events->spin, !*in_time);
  status = device_wait_event(events->after);
  if (status != cudaSuccess) return status;
  return cudaEventElapsedTime(milliseconds, events->before, events->after);
}

static monitor_reading read_state(void *context) {
  (void)context;
  return monitor_read();
}

void event_rest(void *context, double seconds) {
  (void)context;
  const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

bool event_clock_open(event_pair *events, timing_clock *clock, error_text *error) {
  *events = (event_pair){.spin = EVENT_LEAST_SPIN};
  *clock = (timing_clock){start, stop, read_state, event_rest, events};
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

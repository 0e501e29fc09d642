#include "timing/told_clock.h"

static cudaError_t start(void *context, cudaStream_t stream) {
  (void)context, (void)stream;
  return cudaSuccess;
}

// The launch has come to its end before it told its time, so the host was not late.
static cudaError_t stop(void *context, cudaStream_t stream, float *milliseconds, bool *in_time) {
  (void)stream;
  const told_time *told = context;
  *milliseconds = (float)told->milliseconds;
  *in_time = true;
  return cudaSuccess;
}

static monitor_reading read_state(void *context) {
  const told_time *told = context;
  return told->state;
}

timing_clock told_clock(told_time *told) {
  return (timing_clock){start, stop, read_state, told->pause, told};
}

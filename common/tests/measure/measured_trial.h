// A small trial, and a plan whose number of launches is known.
#ifndef MEASURED_TRIAL_H
#define MEASURED_TRIAL_H

#include "device/device.h"
#include "measure/measure.h"
#include "shape/shape.h"
#include <criterion/criterion.h>

static trial tested;

// The bytes of no tensor are a multiple of 256: 2100 of Q and O, 1260 of K and V.
static inline void create_trial(void) {
  const attention_shape shape = {ATTENTION_FP16, 1, 10, 5, 15, 18, 7, false, 1.0f};
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error) && trial_create(&tested, &shape, &error), "%s",
            error.text);
  uint16_t next = 1;
  for (size_t i = 0; i < shape_q_count(&shape); i++) tested.q[i] = next++;
  for (size_t i = 0; i < shape_kv_count(&shape); i++) tested.k[i] = next++;
  for (size_t i = 0; i < shape_kv_count(&shape); i++) tested.v[i] = next++;
  cr_assert(trial_upload(&tested, &error), "%s", error.text);
}

static inline void free_trial(void) { trial_free(&tested); }

// As measure_steps counts them: each tensor rounded up to 256 bytes.
enum { SET_BYTES = 2304 + 1280 + 1280 + 2304 };

// A clock on which every launch takes one millisecond. A GPU's clock repeats a launch that waited for
// the GPU, as these do in their copies, so that the number of launches would depend on the device.
static inline cudaError_t start(void *context, cudaStream_t stream) {
  (void)context, (void)stream;
  return cudaSuccess;
}

static inline cudaError_t stop(void *context, cudaStream_t stream, float *milliseconds,
                               bool *in_time) {
  (void)context, (void)stream;
  *milliseconds = 1;
  *in_time = true;
  return cudaSuccess;
}

static const timing_clock steady_clock = {.start = start, .stop = stop};

// The plan has two rounds, and no graph, which would launch by itself.
static inline measure_plan small_plan(size_t l2_bytes) {
  measure_plan plan = measure_plan_make(2, 1, l2_bytes);
  plan.timing.graph_below_ms = 0;
  plan.timing.burst_ms = 0; // one launch a burst
  plan.timing.quiet = true;
  plan.timing.clock = &steady_clock;
  return plan;
}

static measured_steps measured;

#endif

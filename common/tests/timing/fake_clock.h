// A plan's launches, which only take notes, and a fake clock, on which each launch takes as long as its contender says.
#ifndef FAKE_CLOCK_H
#define FAKE_CLOCK_H

#include "device/device.h"
#include "timing/figures.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 20000 };

typedef struct {
  char name;
  size_t fail_at;      // the launch that fails; 0 for none
  float milliseconds;  // of the first launch
  float growth;        // added to each launch after it
  size_t own_launches; // so far
} contender;

static char order[MOST + 1]; // of the launches, by name
static size_t rotations[MOST];
static size_t launches;
// Not the address of a stream: only the test in which the device records a graph on it needs a real one.
static cudaStream_t stream_given = (cudaStream_t)&launches;

// --- the fake clock, which also tells the GPU's state

static double now; // milliseconds
static double started;
static size_t launched;  // when it was started
static double replay_ms; // of a replay in which no launch is called, as on a GPU
static size_t starts, stops;
static size_t fail_start_at, fail_stop_at; // 0 for never
static size_t late_at;                     // the stop whose time holds the host's; 0 for none
static char always_late;                   // a contender that always waits
static monitor_reading state = {NAN, NAN, false};
static double rested; // seconds
static size_t rests;

static inline cudaError_t fake_start(void *context, cudaStream_t stream) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == stream_given, "another stream");
  cr_assert_eq(starts, stops, "started twice");
  started = now;
  launched = launches;
  return ++starts == fail_start_at ? cudaErrorInvalidValue : cudaSuccess;
}

static inline cudaError_t fake_stop(void *context, cudaStream_t stream, float *milliseconds,
                                    bool *in_time) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == stream_given, "another stream");
  if (launches == launched) now += replay_ms;
  *milliseconds = (float)(now - started);
  now += 1; // what is not between start and stop must not count
  stops++;
  *in_time = stops != late_at && !(always_late && launches && order[launches - 1] == always_late);
  return stops == fail_stop_at ? cudaErrorInvalidValue : cudaSuccess;
}

static inline monitor_reading fake_read(void *context) {
  (void)context;
  return state;
}

static inline void fake_pause(void *context, double seconds) {
  (void)context;
  rested += seconds;
  rests++;
}

static const timing_clock fake_clock = {fake_start, fake_stop, fake_read, fake_pause, "clock"};

static inline cudaError_t take_note(void *context, size_t rotation, cudaStream_t stream) {
  contender *who = context;
  cr_assert(stream == stream_given, "another stream");
  cr_assert_lt(launches, (size_t)MOST);
  order[launches] = who->name;
  rotations[launches] = rotation;
  launches++;
  now += (double)who->milliseconds + (double)who->growth * (double)who->own_launches++;
  return who->fail_at == launches ? cudaErrorInvalidValue : cudaSuccess;
}

enum { FEW = 4 };
static timing_burst bursts[FEW][TIMING_MOST_ROUNDS];
static timing_contender contenders[FEW];

static inline timing_plan small_plan(void) {
  timing_plan plan = timing_default_plan();
  plan.warm_up = 0;
  plan.seed = 5;
  plan.graph_below_ms = 0;
  plan.clock = &fake_clock;
  return plan;
}

static inline void run(const timing_plan *plan, contender *all, size_t count) {
  error_text error;
  memset(bursts, 0xff, sizeof bursts); // NaN
  for (size_t i = 0; i < count; i++) {
    contenders[i] = (timing_contender){"x", take_note, &all[i], bursts[i], 99, "not set", false};
  }
  cr_assert(timing_run(plan, contenders, count, stream_given, &error), "%s", error.text);
}

#endif

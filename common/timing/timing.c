#include "timing/timing.h"

#include "device/device.h"
#include "progress/progress.h"
#include "timing/event_clock.h"
#include <stdlib.h>

timing_plan timing_default_plan(void) {
  return (timing_plan){.samples = 100, .warm_up = 10, .rotations = 1};
}

size_t timing_rotations(size_t bytes, size_t l2_bytes) {
  const size_t most = 64;
  if (bytes == 0) return 1;
  const size_t sets = (2 * l2_bytes + bytes - 1) / bytes;
  return sets < 1 ? 1 : sets > most ? most : sets;
}

static bool time_one(timing_contender *contender, const timing_clock *clock, size_t rotation,
                     cudaStream_t stream, float *milliseconds, error_text *error) {
  return device_ok(clock->start(clock->context, stream), contender->name, error) &&
         device_ok(contender->launch(contender->context, rotation, stream), contender->name,
                   error) &&
         device_ok(clock->stop(clock->context, stream, milliseconds), contender->name, error);
}

// One pass over the rounds: the warm-up, or the samples.
typedef struct {
  const char *label;
  size_t first_round;
  size_t rounds;
  size_t least;   // launches of each contender, however long they take
  double seconds; // for the launches of each contender beyond those; 0 for no limit
  bool keep;      // the times
} phase;

// `used` has room for the milliseconds that each contender's launches took. A contender that has no
// time left sits the remaining rounds out.
static bool run_phase(const phase *phase, const timing_plan *plan, const timing_clock *clock,
                      timing_contender *contenders, size_t count, double *used, cudaStream_t stream,
                      error_text *error) {
  const double most = phase->seconds * 1e3;
  progress bar = progress_start(phase->label, phase->rounds * count);
  bool good = true;
  for (size_t i = 0; i < count; i++) used[i] = 0;
  for (size_t round = 0; round < phase->rounds && good; round++) {
    for (size_t i = 0; i < count && good; i++) {
      progress_show(&bar, round * count + i);
      if (most > 0 && round >= phase->least && used[i] >= most) continue;
      float milliseconds = 0;
      good = time_one(&contenders[i], clock, (phase->first_round + round) % plan->rotations, stream,
                      &milliseconds, error);
      used[i] += (double)milliseconds;
      if (phase->keep && good) {
        contenders[i].milliseconds[contenders[i].taken++] = (double)milliseconds;
      }
    }
  }
  progress_end(&bar);
  return good;
}

static bool run_phases(const timing_plan *plan, const timing_clock *clock,
                       timing_contender *contenders, size_t count, cudaStream_t stream,
                       error_text *error) {
  const phase warm_up = {"warming up", 0, plan->warm_up, 1, plan->seconds / 10, false};
  const phase samples = {"timing",      plan->warm_up, plan->samples, plan->least_samples,
                         plan->seconds, true};
  double *used = calloc(count, sizeof *used);
  const bool good = (used || count == 0 || fail(error, "not enough memory for timing")) &&
                    run_phase(&warm_up, plan, clock, contenders, count, used, stream, error) &&
                    run_phase(&samples, plan, clock, contenders, count, used, stream, error);
  free(used);
  return good;
}

bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error) {
  for (size_t i = 0; i < count; i++) contenders[i].taken = 0;
  if (plan->clock) return run_phases(plan, plan->clock, contenders, count, stream, error);
  event_pair events;
  timing_clock clock;
  if (!event_clock_open(&events, &clock, error)) return false;
  const bool good = run_phases(plan, &clock, contenders, count, stream, error);
  event_clock_close(&events);
  return good;
}

// Times a step for several GPUs in the rounds of common/timing.
#include "measure/measure.h"
#include "group/group.h"
#include "timing/event_clock.h"
#include "timing/told_clock.h"
#include <math.h>

enum { IN_A_ROW = 10 }; // launches, of which a round has the mean

typedef struct {
  gpu_group *group;
  const attention_step *step;
  told_time told; // of the last launches
  error_text failure;
  bool failed;
} stopwatch;

// The GPUs up to the last one of this process. Those of other machines are not watched here.
static monitor_reading read_gpus(const gpu_group *group) {
  return monitor_read_devices(group->members[group->count - 1].device + 1);
}

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation, (void)stream;
  stopwatch *watch = context;
  watch->failed = !group_time(watch->group, watch->step, IN_A_ROW, 1, &watch->told.milliseconds,
                              &watch->failure);
  if (watch->failed) return cudaErrorUnknown;
  watch->told.state = read_gpus(watch->group);
  return cudaSuccess;
}

bool group_measure(gpu_group *group, const attention_step *step, size_t rounds,
                   timing_figures *figures, error_text *error) {
  stopwatch watch = {.group = group, .step = step};
  watch.told = (told_time){.state = read_gpus(group), .pause = event_rest};
  const timing_clock clock = told_clock(&watch.told);
  timing_burst bursts[TIMING_MOST_ROUNDS];
  timing_contender timed = {
      .name = step->name, .launch = launch, .context = &watch, .bursts = bursts};
  timing_plan plan = measure_plan_make(rounds, 1, 0).timing;
  plan.burst_ms = 0; // one time in each burst
  plan.graph_below_ms = 0;
  plan.seconds_least = HUGE_VAL; // the noise alone decides how many rounds there are
  plan.seconds_most /= IN_A_ROW; // the clock tells the time of one of these launches
  plan.clock = &clock;
  const bool good = timing_run(&plan, &timed, 1, NULL, error);
  if (watch.failed) *error = watch.failure; // which says more
  if (!good) return false;
  *figures = timing_figure(&timed);
  figures->times.samples *= IN_A_ROW;
  return true;
}

#include "measure/measure.h"

#include "measure/review.h"
#include "measure/sets.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
  const attention_step *step;
  const buffer_sets *sets;
} contender;

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  const contender *contender = context;
  const attention_step *step = contender->step;
  const attention_args arguments = buffer_sets_arguments(contender->sets, rotation);
  if (step->configure) step->configure(step->configuration);
  return step->forward(&arguments, stream);
}

// Steps of a sweep are one library, which answers for the configuration that was chosen last.
static size_t largest_workspace(const trial *trial, const attention_step *steps, size_t count) {
  size_t largest = 0;
  for (size_t i = 0; i < count; i++) {
    if (steps[i].configure) steps[i].configure(steps[i].configuration);
    const size_t bytes = steps[i].workspace_bytes(&trial->shape);
    if (bytes > largest) largest = bytes;
  }
  return largest;
}

static bool grow_workspace(trial *trial, const attention_step *steps, size_t count,
                           error_text *error) {
  const size_t needed = largest_workspace(trial, steps, count);
  if (needed <= trial->workspace.bytes) return true;
  guard_free(&trial->workspace);
  return guard_allocate(&trial->workspace, "the workspace", needed, trial->bare, error);
}

// The guards were whole when each step was checked. The timed launches ran on other tensors, and in a workspace of another
// size.
static void check_guards(const trial *trial, const buffer_sets *sets, measured_steps *measured) {
  error_text damage;
  if (guard_intact(&trial->workspace, &damage) && guard_intact(&trial->device_o, &damage) &&
      guard_intact(&sets->copies, &damage))
    return;
  for (size_t i = 0; i < measured->count; i++)
    fail(&measured->checks[i].message, "%s%s",
         measured->count > 1 ? "while this step and others were timed, "
                             : "while the step was timed, ",
         damage.text);
}

// Says of each step what was wrong while it was timed, or is wrong in launches that are made as the timed ones were.
static void check_all(trial *trial, const attention_step *steps, const buffer_sets *sets,
                      measured_steps *measured) {
  check_guards(trial, sets, measured);
  for (size_t i = 0; i < measured->count; i++) {
    const timing_contender *timed = &measured->contenders[i];
    const bool replayed = timed->rounds > 0 && isfinite(timed->bursts[0].graph_ms);
    check_result *check = &measured->checks[i];
    if (!*check->message.text) review_step(trial, &steps[i], sets, replayed, check);
  }
}

measure_plan measure_plan_make(size_t rounds, size_t warm_up, size_t l2_bytes) {
  measure_plan plan = {timing_default_plan(), l2_bytes};
  plan.timing.warm_up = warm_up;
  if (rounds > 0) plan.timing.rounds_least = plan.timing.rounds_most = rounds;
  return plan;
}

bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, measured_steps *measured, error_text *error) {
  const size_t all = count + MEASURE_FLOORS;
  timing_contender *contenders = calloc(all, sizeof *contenders);
  timing_burst *bursts = calloc(all * TIMING_MOST_ROUNDS, sizeof *bursts);
  contender *contexts = calloc(all, sizeof *contexts);
  check_result *checks = calloc(all, sizeof *checks);
  buffer_sets sets = {0};
  *measured = (struct measured_steps){count, contenders, bursts, checks, false};
  bool good =
      (contenders && bursts && contexts && checks) || fail(error, "not enough memory for timing");

  good = good && grow_workspace(trial, steps, count, error) &&
         buffer_sets_create(trial, plan->l2_bytes, &sets, error);
  for (size_t i = 0; i < all && good; i++) {
    contexts[i] = (contender){i < count ? &steps[i] : NULL, &sets};
    contenders[i] = (timing_contender){.name = i < count ? steps[i].name : TIMING_EMPTY_KERNEL,
                                       .launch = i < count ? launch : timing_launch_empty_kernel,
                                       .context = &contexts[i],
                                       .bursts = bursts + i * TIMING_MOST_ROUNDS,
                                       .no_buffers = i >= count};
  }
  if (good) {
    contenders[count + MEASURE_NOTHING].name = TIMING_NOTHING;
    contenders[count + MEASURE_NOTHING].launch = timing_launch_nothing;
    timing_plan timing = plan->timing;
    timing.rotations = sets.count;
    good = timing_run(&timing, contenders, all, NULL, error);
    measured->launch_failed = !good;
  }
  if (good) check_all(trial, steps, &sets, measured);
  buffer_sets_free(&sets);
  free(contexts);
  return good;
}

timing_floor measured_steps_floor(const measured_steps *measured) {
  const timing_contender *floors = measured->contenders + measured->count;
  return timing_floor_of(&floors[MEASURE_NOTHING], &floors[MEASURE_EMPTY_KERNEL]);
}

bool measured_steps_check(const measured_steps *measured, size_t step, check_result *result) {
  const check_result *found = &measured->checks[step];
  if (found->o_error > result->o_error) result->o_error = found->o_error;
  if (!*found->message.text) return true;
  *result = *found;
  return false;
}

void measured_steps_free(measured_steps *measured) {
  free(measured->contenders);
  free(measured->bursts);
  free(measured->checks);
  *measured = (struct measured_steps){0};
}

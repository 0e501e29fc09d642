#include "driver/measure.h"

#include "device/device.h"
#include "timing/timing.h"
#include <stdlib.h>

enum { INPUTS = 3, TENSORS = 5 }; // Q, K, V; and O, lse

typedef struct {
  guarded_buffer memory; // all tensors of the set; empty for the first, which is the trial's own
  attention_args arguments;
} buffer_set;

typedef struct {
  const attention_step *step;
  size_t turn;  // of this step in a round
  size_t turns; // of a round: one for each step
  const buffer_set *sets;
  size_t set_count;
} contender;

// The rotation counts rounds. Taking a new set at every turn as well keeps a step from finding in the
// cache what the step before it has just read.
static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  const contender *contender = context;
  if (contender->step->configure) contender->step->configure(contender->step->configuration);
  const size_t set = (rotation * contender->turns + contender->turn) % contender->set_count;
  return contender->step->forward(&contender->sets[set].arguments, stream);
}

static size_t align(size_t bytes) { return (bytes + 255) / 256 * 256; } // as cudaMalloc does

static size_t tensor_bytes(const trial *trial) {
  return align(trial->device_q.bytes) + align(trial->device_k.bytes) +
         align(trial->device_v.bytes) + align(trial->device_o.bytes) +
         align(trial->device_lse.bytes);
}

// Sets of tensors: the trial's own, and copies.
static size_t count_sets(const trial *trial, size_t l2_bytes) {
  return timing_rotations(tensor_bytes(trial), l2_bytes);
}

size_t measure_copies_bytes(const trial *trial, size_t l2_bytes) {
  return (count_sets(trial, l2_bytes) - 1) * tensor_bytes(trial);
}

// One allocation that holds a copy of the inputs and room for the outputs.
static bool copy_set(const trial *trial, buffer_set *set, error_text *error) {
  const guarded_buffer *tensors[TENSORS] = {&trial->device_q, &trial->device_k, &trial->device_v,
                                            &trial->device_o, &trial->device_lse};
  void *copies[TENSORS];
  if (!guard_allocate(&set->memory, "a copy of the tensors for timing", tensor_bytes(trial),
                      trial->bare, error)) {
    return false;
  }
  char *next = set->memory.data;
  for (int i = 0; i < TENSORS; i++) {
    copies[i] = next;
    next += align(tensors[i]->bytes);
    if (i < INPUTS && !device_ok(cudaMemcpy(copies[i], tensors[i]->data, tensors[i]->bytes,
                                            cudaMemcpyDeviceToDevice),
                                 "copying an input for timing", error)) {
      return false;
    }
  }
  set->arguments = trial_arguments(trial);
  set->arguments.q = copies[0];
  set->arguments.k = copies[1];
  set->arguments.v = copies[2];
  set->arguments.o = copies[3];
  set->arguments.lse = copies[4];
  return true;
}

static bool create_sets(const trial *trial, buffer_set *sets, size_t count, error_text *error) {
  sets[0].arguments = trial_arguments(trial);
  for (size_t i = 1; i < count; i++) {
    if (!copy_set(trial, &sets[i], error)) return false;
  }
  return true;
}

static size_t largest_workspace(const trial *trial, const attention_step *steps, size_t count) {
  size_t largest = 0;
  for (size_t i = 0; i < count; i++) {
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

bool measure_steps(trial *trial, const attention_step *steps, size_t count,
                   const measure_plan *plan, double *milliseconds, size_t *taken,
                   error_text *error) {
  const size_t set_count = count_sets(trial, plan->l2_bytes);
  const timing_plan timing = {.samples = plan->samples,
                              .warm_up = plan->warm_up,
                              .rotations = set_count,
                              .seconds = plan->seconds,
                              .least_samples = plan->least_samples,
                              .clock = plan->clock};
  buffer_set *sets = calloc(set_count, sizeof *sets);
  contender *contexts = calloc(count, sizeof *contexts);
  timing_contender *contenders = calloc(count, sizeof *contenders);
  bool good = (sets && contexts && contenders) || fail(error, "not enough memory for timing");

  good = good && grow_workspace(trial, steps, count, error) &&
         create_sets(trial, sets, set_count, error);
  for (size_t i = 0; i < count && good; i++) {
    contexts[i] = (contender){&steps[i], i, count, sets, set_count};
    contenders[i] = (timing_contender){steps[i].name, launch, &contexts[i],
                                       milliseconds + i * plan->samples, 0};
  }
  good = good && timing_run(&timing, contenders, count, NULL, error);
  for (size_t i = 0; i < count && good; i++) taken[i] = contenders[i].taken;

  for (size_t i = 0; sets && i < set_count; i++) guard_free(&sets[i].memory);
  free(sets);
  free(contexts);
  free(contenders);
  return good;
}

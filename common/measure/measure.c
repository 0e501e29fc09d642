#include "measure/measure.h"

#include "device/device.h"
#include <stdlib.h>

enum { INPUTS = 3, TENSORS = 4 }; // Q, K, V; and O

// The sets of tensors. Number 0 is the trial's own, and the others are copies that lie one after the other.
typedef struct {
  size_t count;
  size_t bytes; // of a copy
  guarded_buffer copies;
  attention_args own;
  size_t offsets[TENSORS]; // of the tensors in a copy
} buffer_sets;

typedef struct {
  const attention_step *step;
  const buffer_sets *sets;
} contender;

static attention_args arguments_of(const buffer_sets *sets, size_t number) {
  attention_args arguments = sets->own;
  if (number == 0) return arguments;
  char *copy = (char *)sets->copies.data + (number - 1) * sets->bytes;
  arguments.q = copy + sets->offsets[0];
  arguments.k = copy + sets->offsets[1];
  arguments.v = copy + sets->offsets[2];
  arguments.o = copy + sets->offsets[3];
  return arguments;
}

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  const contender *contender = context;
  const attention_step *step = contender->step;
  const attention_args arguments = arguments_of(contender->sets, rotation);
  if (step->configure) step->configure(step->configuration);
  return step->forward(&arguments, stream);
}

static size_t align(size_t bytes) { return (bytes + 255) / 256 * 256; } // as cudaMalloc does

static size_t tensor_bytes(const trial *trial) {
  return align(trial->device_q.bytes) + align(trial->device_k.bytes) +
         align(trial->device_v.bytes) + align(trial->device_o.bytes);
}

size_t measure_copies_bytes(const trial *trial, size_t l2_bytes) {
  return (timing_rotations(tensor_bytes(trial), l2_bytes) - 1) * tensor_bytes(trial);
}

static bool copy(void *target, const void *source, size_t bytes, error_text *error) {
  return device_ok(cudaMemcpy(target, source, bytes, cudaMemcpyDeviceToDevice),
                   "copying the tensors for timing", error);
}

// Makes one allocation for all copies. Small tensors have thousands of copies, so each transfer doubles the
// number of copies that hold the inputs.
static bool create_sets(const trial *trial, size_t l2_bytes, buffer_sets *sets, error_text *error) {
  const guarded_buffer *tensors[TENSORS] = {&trial->device_q, &trial->device_k, &trial->device_v,
                                            &trial->device_o};
  *sets = (buffer_sets){.count = timing_rotations(tensor_bytes(trial), l2_bytes),
                        .bytes = tensor_bytes(trial),
                        .own = trial_arguments(trial)};
  sets->own.lse = NULL;
  for (int i = 1; i < TENSORS; i++) {
    sets->offsets[i] = sets->offsets[i - 1] + align(tensors[i - 1]->bytes);
  }
  const size_t copies = sets->count - 1;
  if (copies == 0) return true;
  bool good = guard_allocate(&sets->copies, "the copies of the tensors for timing",
                             copies * sets->bytes, trial->bare, error);
  char *const first = sets->copies.data;
  for (int i = 0; i < INPUTS && good; i++) {
    good = copy(first + sets->offsets[i], tensors[i]->data, tensors[i]->bytes, error);
  }
  for (size_t done = 1; done < copies && good; done *= 2) {
    const size_t more = done < copies - done ? done : copies - done;
    good = copy(first + done * sets->bytes, first, more * sets->bytes, error);
  }
  return good;
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
  *measured = (struct measured_steps){count, contenders, bursts, checks};
  bool good =
      (contenders && bursts && contexts && checks) || fail(error, "not enough memory for timing");

  good = good && grow_workspace(trial, steps, count, error) &&
         create_sets(trial, plan->l2_bytes, &sets, error);
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
  }
  if (good) check_guards(trial, &sets, measured);
  guard_free(&sets.copies);
  free(contexts);
  return good;
}

timing_floor measured_steps_floor(const measured_steps *measured) {
  const timing_contender *floors = measured->contenders + measured->count;
  return timing_floor_of(&floors[MEASURE_NOTHING], &floors[MEASURE_EMPTY_KERNEL]);
}

bool measured_steps_check(const measured_steps *measured, size_t step, check_result *result) {
  const check_result *found = &measured->checks[step];
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

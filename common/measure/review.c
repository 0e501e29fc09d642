#include "measure/review.h"

#include "device/device.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <string.h>

// Of small tensors there are thousands of sets, and of large ones a comparison takes long. The trial's own set, the
// first copy and the last one tell a step that works on some sets only.
enum { MOST_SETS = 3 };

typedef struct {
  const attention_step *step;
  size_t count;
  attention_args arguments[MOST_SETS];
} launches;

// The workspace is not the one of the timed launches any more, but of the size that the step asks for.
static launches choose_launches(const trial *trial, const attention_step *step,
                                const buffer_sets *sets) {
  const size_t numbers[MOST_SETS] = {0, 1, sets->count - 1};
  launches chosen = {.step = step, .count = sets->count < MOST_SETS ? sets->count : MOST_SETS};
  for (size_t i = 0; i < chosen.count; i++) {
    chosen.arguments[i] = buffer_sets_arguments(sets, numbers[i]);
    chosen.arguments[i].workspace = trial->workspace.data;
  }
  return chosen;
}

static cudaError_t launch_all(void *context, cudaStream_t stream) {
  const launches *all = context;
  cudaError_t status = cudaSuccess;
  for (size_t i = 0; i < all->count && status == cudaSuccess; i++)
    status = all->step->forward(&all->arguments[i], stream);
  return status;
}

static bool run(const launches *all, size_t o_bytes, const device_graph *graph, error_text *error) {
  for (size_t i = 0; i < all->count; i++)
    if (!device_ok(cudaMemset(all->arguments[i].o, CHECK_POISON, o_bytes), "poisoning O", error))
      return false;
  return device_ok(cudaDeviceSynchronize(), "poisoning O", error) &&
         device_ok(graph ? device_graph_replay(graph, NULL) : launch_all((void *)all, NULL),
                   "launching the step", error) &&
         device_ok(device_wait(NULL), "running the step", error);
}

// Where O has the very bits of the one that has just been checked, nothing more is to be compared. Not every step gives
// the same bits each time.
static bool check_o(const trial *trial, const void *device, uint16_t *o, error_text *error) {
  const size_t bytes = trial->device_o.bytes;
  check_result found = {0};
  if (!device_ok(cudaMemcpy(o, device, bytes, cudaMemcpyDeviceToHost), "copying O back", error))
    return false;
  if (memcmp(o, trial->o, bytes) == 0 ||
      check_outputs(&trial->shape, o, NULL, &trial->reference, &found))
    return true;
  *error = found.message;
  return false;
}

// `graph` is NULL where the launches are made one by one.
static bool run_and_check(const trial *trial, const launches *all, const buffer_sets *sets,
                          const device_graph *graph, error_text *error) {
  uint16_t *o = malloc(trial->device_o.bytes);
  error_text found;
  bool good = (o || fail(&found, "there is not enough memory to compare O")) &&
              run(all, trial->device_o.bytes, graph, &found);
  for (size_t i = 0; i < all->count && good; i++)
    good = check_o(trial, all->arguments[i].o, o, &found);
  free(o);
  good = good && guard_intact(&trial->workspace, &found) &&
         guard_intact(&trial->device_o, &found) && guard_intact(&sets->copies, &found);
  return good ||
         fail(error, "after it was timed, launched on %zu set%s of tensors %s: %s", all->count,
              all->count == 1 ? "" : "s", graph ? "in a graph" : "in a row", found.text);
}

bool review_step(trial *trial, const attention_step *step, const buffer_sets *sets, bool replayed,
                 check_result *check) {
  if (!trial->reference.o) return true;
  if (!trial_check_timed(trial, step, check)) return false;
  check->message.text[0] = '\0'; // which may speak of ill-conditioned rows, and they are no fault
  launches all = choose_launches(trial, step, sets);
  device_graph *graph = NULL;
  const bool good = run_and_check(trial, &all, sets, NULL, &check->message) &&
                    (!replayed || (device_ok(device_graph_record(launch_all, &all, NULL, &graph),
                                             "recording a graph again", &check->message) &&
                                   run_and_check(trial, &all, sets, graph, &check->message)));
  device_graph_free(graph);
  return good;
}

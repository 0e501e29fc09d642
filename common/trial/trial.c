#include "trial/trial.h"

#include "device/device.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <string.h>

static size_t q_bytes(const trial *trial) {
  return shape_q_count(&trial->shape) * sizeof(uint16_t);
}

static size_t kv_bytes(const trial *trial) {
  return shape_kv_count(&trial->shape) * sizeof(uint16_t);
}

static size_t lse_bytes(const trial *trial) {
  return shape_lse_count(&trial->shape) * sizeof(float);
}

bool trial_create(trial *trial, const attention_shape *shape, error_text *error) {
  memset(trial, 0, sizeof *trial);
  trial->shape = *shape;
  if (!shape_valid(shape, error)) return false;
  trial->q = malloc(q_bytes(trial));
  trial->k = malloc(kv_bytes(trial));
  trial->v = malloc(kv_bytes(trial));
  trial->o = malloc(q_bytes(trial));
  trial->lse = malloc(lse_bytes(trial));
  if (!trial->q || !trial->k || !trial->v || !trial->o || !trial->lse) {
    trial_free(trial);
    return fail(error, "not enough memory on the host for tensors of %s: take a smaller shape",
                shape_describe(shape).text);
  }
  return true;
}

void trial_free(trial *trial) {
  free(trial->q);
  free(trial->k);
  free(trial->v);
  free(trial->o);
  free(trial->lse);
  reference_free(&trial->reference);
  guard_free(&trial->device_q);
  guard_free(&trial->device_k);
  guard_free(&trial->device_v);
  guard_free(&trial->device_o);
  guard_free(&trial->device_lse);
  guard_free(&trial->workspace);
  memset(trial, 0, sizeof *trial);
}

bool trial_upload(trial *trial, error_text *error) {
  struct {
    guarded_buffer *buffer;
    const char *name;
    const void *host; // NULL for an output
    size_t bytes;
  } tensors[] = {
      {&trial->device_q, "Q", trial->q, q_bytes(trial)},
      {&trial->device_k, "K", trial->k, kv_bytes(trial)},
      {&trial->device_v, "V", trial->v, kv_bytes(trial)},
      {&trial->device_o, "O", NULL, q_bytes(trial)},
      {&trial->device_lse, "lse", NULL, lse_bytes(trial)},
  };
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
    guarded_buffer *buffer = tensors[i].buffer;
    if (!buffer->zone &&
        !guard_allocate(buffer, tensors[i].name, tensors[i].bytes, trial->bare, error)) {
      return false;
    }
    if (tensors[i].host && !device_ok(cudaMemcpy(buffer->data, tensors[i].host, tensors[i].bytes,
                                                 cudaMemcpyHostToDevice),
                                      "copying an input to the device", error)) {
      return false;
    }
  }
  return true;
}

bool trial_reference(trial *trial, error_text *error) {
  reference_free(&trial->reference);
  return reference_compute(&trial->shape, trial->q, trial->k, trial->v, &trial->reference, error);
}

bool trial_reference_some(trial *trial, size_t per_head, uint64_t seed, error_text *error) {
  reference_free(&trial->reference);
  return reference_compute_some(&trial->shape, trial->q, trial->k, trial->v, per_head, seed,
                                &trial->reference, error);
}

bool trial_supported(const trial *trial, const attention_step *step, error_text *error) {
  if (step->configure) step->configure(step->configuration);
  const char *reason = step->unsupported(&trial->shape);
  return !reason || fail(error, "step %s cannot take %s: %s", step->name,
                         shape_describe(&trial->shape).text, reason);
}

attention_args trial_arguments(const trial *trial) {
  return (attention_args){
      .shape = trial->shape,
      .q = trial->device_q.data,
      .k = trial->device_k.data,
      .v = trial->device_v.data,
      .o = trial->device_o.data,
      .lse = trial->o_alone ? NULL : trial->device_lse.data,
      .workspace = trial->workspace.data,
  };
}

// Launches the step and waits for it. A failure here is the step's fault.
static bool launch(trial *trial, const attention_step *step, int launches, cudaStream_t stream,
                   error_text *error) {
  const attention_args arguments = trial_arguments(trial);
  bool good = true;
  for (int i = 0; i < launches && good; i++)
    good = device_ok(step->forward(&arguments, stream),
                     launches > 1 ? "launching the step in a row" : "launching the step", error);
  good = good && device_ok(device_wait(stream),
                           launches > 1 ? "running the step in a row" : "running the step", error);
  trial->launch_failed = !good;
  return good;
}

bool trial_run(trial *trial, const attention_step *step, cudaStream_t stream, error_text *error) {
  trial->launch_failed = false;
  // Before all else, because the workspace depends on it. Another contender may have configured the same library.
  if (step->configure) step->configure(step->configuration);
  const size_t needed = step->workspace_bytes(&trial->shape);
  if (trial->workspace.bytes != needed) {
    guard_free(&trial->workspace);
    if (!guard_allocate(&trial->workspace, "the workspace", needed, trial->bare, error))
      return false;
  }
  if (!guard_poison(&trial->device_o, error) || !guard_poison(&trial->device_lse, error) ||
      !guard_poison_workspace(&trial->workspace, error) ||
      // The poison went to the default stream; `stream` need not wait for that one by itself.
      !device_ok(cudaDeviceSynchronize(), "poisoning the outputs", error)) {
    return false;
  }
  return launch(trial, step, 1, stream, error) &&
         device_ok(
             cudaMemcpy(trial->o, trial->device_o.data, q_bytes(trial), cudaMemcpyDeviceToHost),
             "copying O back", error) &&
         (trial->o_alone || device_ok(cudaMemcpy(trial->lse, trial->device_lse.data,
                                                 lse_bytes(trial), cudaMemcpyDeviceToHost),
                                      "copying lse back", error));
}

bool trial_run_in_a_row(trial *trial, const attention_step *step, cudaStream_t stream,
                        error_text *error) {
  return launch(trial, step, 2, stream, error);
}

static bool unchanged(const guarded_buffer *buffer, const void *host, error_text *error) {
  void *now = malloc(buffer->bytes);
  bool good = now || fail(error, "not enough memory to read %s back", buffer->name);
  good = good && device_ok(cudaMemcpy(now, buffer->data, buffer->bytes, cudaMemcpyDeviceToHost),
                           "reading an input back", error);
  if (good && memcmp(now, host, buffer->bytes) != 0) {
    good = fail(error, "the step changed its input %s", buffer->name);
  }
  free(now);
  return good;
}

bool trial_check(trial *trial, check_result *result) {
  error_text *message = &result->message;
  const float *lse = trial->o_alone ? NULL : trial->lse;
  if (!check_outputs(&trial->shape, trial->o, lse, &trial->reference, result)) return false;
  return guard_intact(&trial->device_o, message) && guard_intact(&trial->device_lse, message) &&
         guard_intact(&trial->workspace, message) && guard_intact(&trial->device_q, message) &&
         guard_intact(&trial->device_k, message) && guard_intact(&trial->device_v, message) &&
         unchanged(&trial->device_q, trial->q, message) &&
         unchanged(&trial->device_k, trial->k, message) &&
         unchanged(&trial->device_v, trial->v, message);
}

bool trial_check_o_alone(trial *trial, const attention_step *step, check_result *result) {
  const bool before = trial->o_alone;
  check_result alone = {0};
  trial->o_alone = true;
  const bool good = trial_run(trial, step, NULL, &alone.message) && trial_check(trial, &alone);
  trial->o_alone = before;
  if (!good) result->message.text[0] = '\0'; // that of ill-conditioned rows matters less
  check_keep_worse(result, &alone, "where lse is not asked for");
  return good;
}

bool trial_check_timed(trial *trial, const attention_step *step, check_result *result) {
  if (!trial->reference.o || trial_check_o_alone(trial, step, result)) return true;
  const error_text message = result->message;
  return fail(&result->message, "after it was timed, %s", message.text);
}

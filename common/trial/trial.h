// One problem on the device, with its inputs, poisoned outputs between red zones, and the reference that
// steps are compared with. A trial outlives the steps that run on it, so several are compared on the same
// tensors.
#ifndef TRIAL_H
#define TRIAL_H

#include "check/check.h"
#include "step/step.h"
#include "trial/guard.h"

typedef struct {
  attention_shape shape;
  bool
      bare; // buffers without red zones and poison; to be set before trial_upload. Not to be checked then.
  bool o_alone;        // the step is asked for O alone, without lse, which is then not checked
  uint16_t *q, *k, *v; // the inputs on the host, fp16 or bf16 bits
  uint16_t *o;         // what the last step wrote
  float *lse;
  bool
      launch_failed; // in the last trial_run the step's launch or its kernel failed, and nothing else did
  reference_result reference; // empty until trial_reference
  guarded_buffer device_q, device_k, device_v, device_o, device_lse, workspace;
} trial;

// Allocates the host tensors of the shape. The caller then fills q, k and v.
bool trial_create(trial *trial, const attention_shape *shape, error_text *error);
void trial_free(trial *trial);

// Copies the inputs to the device; call it once they are filled.
bool trial_upload(trial *trial, error_text *error);

// Computes the reference from the inputs (seconds on long sequences).
bool trial_reference(trial *trial, error_text *error);

// Does the same for `per_head` rows of each head, selected by the seed, when the whole reference would take
// minutes.
bool trial_reference_some(trial *trial, size_t per_head, uint64_t seed, error_text *error);

// Tells whether the step takes this shape. If not, the sentence names the step and its reason.
bool trial_supported(const trial *trial, const attention_step *step, error_text *error);

// Gives the step the workspace it needs, poisons outputs and workspace, runs the step once on
// `stream`, waits, and copies O and lse back. Returns false when a CUDA call or the launch fails. Where launch_failed says
// that it is the launch, the step is wrong; else the machine has failed.
bool trial_run(trial *trial, const attention_step *step, cudaStream_t stream, error_text *error);

// Runs the step of the last trial_run twice more, one launch right behind the other as in a model, and waits. A kernel that
// is launched early may begin before the launch before it has ended. The emulator's sanitizer looks for races between
// the two. Returns false when a launch fails, as launch_failed then says.
bool trial_run_in_a_row(trial *trial, const attention_step *step, cudaStream_t stream,
                        error_text *error);

// Returns the arguments of a launch on the trial's own buffers, with the workspace of the last trial_run.
attention_args trial_arguments(const trial *trial);

// Checks the results of trial_run. It compares every element of O and lse with the reference, or tests that
// it is finite where the reference has no such row. All red zones must be intact and the inputs unchanged.
// Returns false with result->message set when anything is wrong.
bool trial_check(trial *trial, check_result *result);

// Runs the step once more, for O alone, as launches do that are timed, and checks that O. A step may have a kernel
// of its own for that. `result` is that of trial_check, and gets the worse value of each field, also where rows are
// ill-conditioned in this run alone. Returns false with result->message set when it is wrong, or when the launch fails.
bool trial_check_o_alone(trial *trial, const attention_step *step, check_result *result);

// The same, after the step has been timed. A step may be right when it is checked, and do less in the launches after that.
// Without a reference nothing is checked.
bool trial_check_timed(trial *trial, const attention_step *step, check_result *result);

#endif

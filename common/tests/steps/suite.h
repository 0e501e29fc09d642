// The suite that every step must pass: declarations that its test files share.
#ifndef SUITE_H
#define SUITE_H

#include "inputs/inputs.h"
#include "shape/shape.h"
#include "trial/trial.h"

// The linked step, in the configuration that the environment variable LAB_CONFIG names, if it is set.
attention_step suite_step(void);

// Whether the kernels run on the emulator, which takes smaller problems for the same time.
bool suite_emulated(void);

// ATTENTION_BF16, or ATTENTION_FP16 where the step takes no bf16 because the GPU is too old for it, or because its build
// leaves bf16 out for head_dim 64.
attention_dtype suite_bf16(void);

// A shape with the usual scale, 1 / sqrt(head_dim), and one batch entry of two heads.
attention_shape suite_shape(attention_dtype dtype, int seq_q, int seq_kv, int head_dim,
                            bool causal);

// Runs the linked step on fresh tensors and fails the test, with the shape and the checker's
// sentence, unless everything is right. Does nothing with a shape that the step refuses: which ones it may
// refuse is in test_interface.c.
void suite_expect_right(attention_shape shape, inputs_kind kind);

// The same for a long problem, whose reference takes seconds: `per_head` random rows of every head are compared, and all
// others tested to be finite.
void suite_expect_some_rows_right(attention_shape shape, inputs_kind kind, size_t per_head);

// A trial with inputs on the device and the reference computed; the caller frees it.
void suite_prepare(trial *trial, attention_shape shape, inputs_kind kind);

// The same in two parts, for inputs of a test's own: it fills q, k and v of the trial in between.
void suite_create(trial *trial, attention_shape shape);
void suite_upload(trial *trial);

// Runs and checks the linked step on a prepared trial. On a GPU it does so in all configurations, and last in the step's
// own choice.
void suite_run_and_check(trial *trial, cudaStream_t stream);

// Launches the step on a trial that it has run before, with these arguments, and checks O.
void suite_expect_right_again(trial *trial, const attention_args *arguments);

#endif

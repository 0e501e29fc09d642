// Functions that the test files of the steps for several GPUs share.
#ifndef GROUP_SUITE_H
#define GROUP_SUITE_H

#include "group/group.h"
#include "shape/shape.h"
#include "trial/trial.h"

// The linked step, in the configuration that the environment variable LAB_CONFIG names, if it is set.
attention_step group_suite_step(void);

// The number of GPUs. On the emulator they are imitated, EMU_GPUS of them or five.
int group_suite_gpus(void);

// A shape with the usual scale, 1 / sqrt(head_dim), and one batch entry of two heads.
attention_shape group_suite_shape(attention_dtype dtype, int seq_q, int seq_kv, int head_dim,
                                  bool causal);

// A trial with inputs and the reference computed; the caller frees it.
void group_suite_prepare(trial *trial, const attention_shape *shape);

// Runs the step on a trial with inputs and reference, on so many ranks, with lse and without, and fails the test unless
// everything is right.
void group_suite_run_and_check(const attention_step *step, trial *trial, int ranks);

#endif

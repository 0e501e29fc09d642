// The fuzzer finds a planted fault of any kind, and shrinks the problem to the part that the fault needs.
// The step computes on the host and is right except for one fault (see tests/driver/sabotaged_step.c).
#define _GNU_SOURCE
#include "fuzz/shrink.h"
#include "tests/driver/sabotaged_step.c"
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>

// The fault needs a mask over more than 40 keys.
static bool at_fault(const attention_shape *shape) { return shape->causal && shape->seq_kv > 40; }

static cudaError_t wrong(const attention_args *args, cudaStream_t stream) {
  setenv("SABOTAGE", at_fault(&args->shape) ? "zeros" : "nothing", 1);
  return attention_forward(args, stream);
}

static cudaError_t wrong_without_lse(const attention_args *args, cudaStream_t stream) {
  setenv("SABOTAGE", at_fault(&args->shape) ? "o_alone" : "nothing", 1);
  return attention_forward(args, stream);
}

static cudaError_t crash(const attention_args *args, cudaStream_t stream) {
  if (at_fault(&args->shape)) raise(SIGKILL);
  return attention_forward(args, stream);
}

static attention_step step_with(cudaError_t (*forward)(const attention_args *, cudaStream_t)) {
  return (attention_step){.name = "00_sabotaged",
                          .forward = forward,
                          .workspace_bytes = attention_workspace_bytes,
                          .unsupported = attention_unsupported};
}

static cudaError_t leave(const attention_args *args, cudaStream_t stream) {
  if (at_fault(&args->shape)) exit(0);
  return attention_forward(args, stream);
}

enum { PROBLEMS = 60 };

static void expect_found(cudaError_t (*forward)(const attention_args *, cudaStream_t),
                         const char *words) {
  const attention_step step = step_with(forward);
  fuzz_problem problems[PROBLEMS];
  size_t first = PROBLEMS;
  for (size_t i = 0; i < PROBLEMS; i++) {
    problems[i] = problem_random(&step, 3, i);
    if (first == PROBLEMS && at_fault(&problems[i].shape) &&
        (problems[i].o_alone || forward != wrong_without_lse))
      first = i;
  }
  const run_outcome outcome = run_problems(&step, problems, PROBLEMS, 1e9, true);
  cr_assert_eq(outcome.verdict, RUN_FAILED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, first, "found at %zu, not at %zu", outcome.done, first);
  cr_expect(strstr(outcome.message.text, words), "%s", outcome.message.text);

  const shrink_result small = shrink(&step, &problems[outcome.done], &outcome.message);
  const attention_shape *shape = &small.problem.shape;
  cr_expect(shape->causal && shape->seq_kv == 41, "shrunk to %s", shape_describe(shape).text);
  cr_expect(shape->batch == 1 && shape->heads == 1 && shape->seq_q == 1 && shape->head_dim == 1,
            "shrunk to %s", shape_describe(shape).text);
  cr_expect(shape->dtype == ATTENTION_FP16 && small.problem.inputs == INPUTS_NORMAL);
  cr_expect(small.problem.schedule == 0 && small.problem.seed == 1);
  cr_expect_eq(small.problem.o_alone, forward == wrong_without_lse);
  cr_expect(strstr(small.message.text, words), "%s", small.message.text);
}

Test(fuzz, finds_and_shrinks_a_wrong_result) { expect_found(wrong, "O is wrong"); }
Test(fuzz, finds_and_shrinks_a_wrong_result_without_lse) {
  expect_found(wrong_without_lse, "O is wrong");
}
Test(fuzz, finds_and_shrinks_an_exit) {
  expect_found(leave, "ends the process, with exit status 0");
}
Test(fuzz, finds_and_shrinks_a_crash) { expect_found(crash, "it crashes: Killed"); }

Test(fuzz, a_right_step_passes) {
  const attention_step step = step_with(attention_forward);
  fuzz_problem problems[PROBLEMS];
  for (size_t i = 0; i < PROBLEMS; i++) problems[i] = problem_random(&step, 3, i);
  const run_outcome outcome = run_problems(&step, problems, PROBLEMS, 1e9, true);
  cr_expect_eq(outcome.verdict, RUN_PASSED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, PROBLEMS);
  cr_expect_eq(outcome.refused, 0);
  cr_expect_str_empty(outcome.message.text);
}

// Problems that were not run say nothing.
Test(fuzz, refused_problems_are_counted_apart) {
  attention_step step = step_with(attention_forward);
  fuzz_problem problems[PROBLEMS];
  for (size_t i = 0; i < PROBLEMS; i++) problems[i] = problem_random(&step, 3, i);
  setenv("SABOTAGE", "unsupported", 1);
  const run_outcome outcome = run_problems(&step, problems, PROBLEMS, 1e9, true);
  cr_expect_eq(outcome.verdict, RUN_PASSED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, PROBLEMS);
  cr_expect_eq(outcome.refused, PROBLEMS);
  cr_expect_str_eq(outcome.message.text, "it takes nothing");
}

Test(fuzz, problems_are_valid_differ_and_come_again) {
  const attention_step step = step_with(attention_forward);
  int causal = 0;
  int grouped = 0;
  int other_lengths = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    const fuzz_problem problem = problem_random(&step, 7, i);
    const fuzz_problem again = problem_random(&step, 7, i);
    error_text error;
    cr_assert(shape_valid(&problem.shape, &error), "%s", error.text);
    cr_assert_str_eq(problem_command(&problem, "step", true).text,
                     problem_command(&again, "step", true).text);
    causal += problem.shape.causal;
    grouped += problem.shape.heads != problem.shape.kv_heads;
    other_lengths += problem.shape.seq_q != problem.shape.seq_kv;
  }
  cr_expect(causal > 300 && causal < 700 && grouped > 300 && other_lengths > 300);
}

Test(fuzz, the_command_names_every_option) {
  const fuzz_problem problem = {
      .shape = {ATTENTION_BF16, 2, 6, 3, 33, 200, 40, true, 0.125f},
      .inputs = INPUTS_RAMP,
      .seed = 5,
      .schedule = 9,
      .configuration = "64x64x4x2",
      .o_alone = true,
  };
  cr_expect_str_eq(problem_command(&problem, "build/cpu/step06", true).text,
                   "build/cpu/step06 --dtype bf16 --batch 2 --heads 6 --kv-heads 3 --seq-q 33 "
                   "--seq-kv 200 --dim 40 --causal --scale 0.125 --inputs ramp --seed 5 "
                   "--config 64x64x4x2 --o-alone --emu-seed 9");
}

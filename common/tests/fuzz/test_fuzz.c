// The fuzzer finds a planted fault of any kind, and shrinks the problem to the part that the fault needs.
// The step computes on the host and is right except for one fault (see tests/driver/sabotaged_step.c).
#define _GNU_SOURCE
#include "device/device.h"
#include "fuzz/shrink.h"
#include "tests/driver/sabotaged_step.c"
#include "tests/kept.h"
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

// attention_unsupported asks the device, and a process that has done so can no longer run problems in a child.
static const char *takes_all(const attention_shape *shape) { return shape ? NULL : "no shape"; }

static attention_step step_with(cudaError_t (*forward)(const attention_args *, cudaStream_t)) {
  return (attention_step){.name = "00_sabotaged",
                          .forward = forward,
                          .workspace_bytes = attention_workspace_bytes,
                          .unsupported = takes_all};
}

static cudaError_t leave(const attention_args *args, cudaStream_t stream) {
  if (at_fault(&args->shape)) exit(0);
  return attention_forward(args, stream);
}

enum { PROBLEMS = 60 };

static void expect_found(cudaError_t (*forward)(const attention_args *, cudaStream_t),
                         const char *words) {
  const attention_step step = step_with(forward);
  size_t first = PROBLEMS;
  for (size_t i = 0; i < PROBLEMS; i++) {
    const fuzz_problem problem = problem_random(&step, 3, i);
    if (first == PROBLEMS && at_fault(&problem.shape) &&
        (problem.o_alone || forward != wrong_without_lse))
      first = i;
  }
  const run_outcome outcome = run_random(&step, 3, 0, PROBLEMS, 1e9, true);
  cr_assert_eq(outcome.verdict, RUN_FAILED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, first, "found at %zu, not at %zu", outcome.done, first);
  const fuzz_problem expected = problem_random(&step, 3, first);
  cr_expect_str_eq(kept(problem_command(&outcome.problem, "step", true).text),
                   kept(problem_command(&expected, "step", true).text));
  cr_expect(strstr(outcome.message.text, words), "%s", outcome.message.text);

  const shrink_result small = shrink(&step, &outcome.problem, &outcome.message);
  const attention_shape *shape = &small.problem.shape;
  cr_expect(shape->causal && shape->seq_kv == 41, "shrunk to %s", shape_describe(shape).text);
  cr_expect(shape->batch == 1 && shape->heads == 1 && shape->seq_q == 1 && shape->head_dim == 1,
            "shrunk to %s", shape_describe(shape).text);
  cr_expect_eq(shape->scale, problem_usual_scale(shape), "it goes with head_dim");
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

static cudaError_t wrong_in_wide_heads(const attention_args *args, cudaStream_t stream) {
  setenv("SABOTAGE", args->shape.head_dim > 40 ? "zeros" : "nothing", 1);
  return attention_forward(args, stream);
}

// The last steps are of one column each. The scale goes with them, or the problem would need a --scale of its own.
Test(fuzz, a_usual_scale_stays_one) {
  const attention_step step = step_with(wrong_in_wide_heads);
  const error_text message = {"O is wrong"};
  fuzz_problem problem = problem_random(&step, 3, 0);
  problem.shape.head_dim = 50;
  problem.shape.scale = problem_usual_scale(&problem.shape);
  const shrink_result small = shrink(&step, &problem, &message);
  cr_expect_eq(small.problem.shape.head_dim, 41);
  cr_expect_eq(small.problem.shape.scale, problem_usual_scale(&small.problem.shape));
}

Test(fuzz, a_right_step_passes) {
  const attention_step step = step_with(attention_forward);
  const run_outcome outcome = run_random(&step, 3, 0, PROBLEMS, 1e9, true);
  cr_expect_eq(outcome.verdict, RUN_PASSED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, PROBLEMS);
  cr_expect_eq(outcome.refused, 0);
  cr_expect_str_empty(outcome.message.text);
}

// Problems that were not run say nothing.
Test(fuzz, refused_problems_are_counted_apart) {
  attention_step step = step_with(attention_forward);
  step.unsupported = attention_unsupported;
  setenv("SABOTAGE", "unsupported", 1);
  const run_outcome outcome = run_random(&step, 3, 0, PROBLEMS, 1e9, true);
  cr_expect_eq(outcome.verdict, RUN_PASSED, "%s", outcome.message.text);
  cr_expect_eq(outcome.done, PROBLEMS);
  cr_expect_eq(outcome.refused, PROBLEMS);
  cr_expect_str_eq(outcome.message.text, "it takes nothing");
}

// As soon as the time is up no further problem begins.
Test(fuzz, stops_when_the_time_is_up) {
  const attention_step step = step_with(attention_forward);
  const run_outcome outcome = run_random(&step, 3, 0, PROBLEMS, 0, true);
  cr_expect(outcome.verdict == RUN_PASSED && outcome.done == 0 && outcome.refused == 0);
}

// The step must find what the command that repeats the problem would give it.
static const fuzz_problem *told;
static uint64_t schedule;
// In place of the emulator's, which runs no kernel here.
void emulator_set_seed(uint64_t seed);
void emulator_set_seed(uint64_t seed) { schedule = seed; }

static bool holds(const void *device, inputs_tensor tensor, size_t count) {
  uint16_t *found = malloc(count * sizeof *found), *expected = malloc(count * sizeof *expected);
  inputs_fill(&told->shape, told->inputs, tensor, told->seed, expected);
  cudaMemcpy(found, device, count * sizeof *found, cudaMemcpyDeviceToHost);
  const bool same = memcmp(found, expected, count * sizeof *found) == 0;
  free(found), free(expected);
  return same;
}

static cudaError_t compare(const attention_args *args, cudaStream_t stream) {
  const size_t q = shape_q_count(&args->shape), kv = shape_kv_count(&args->shape);
  if (!holds(args->q, INPUTS_Q, q) || !holds(args->k, INPUTS_K, kv) ||
      !holds(args->v, INPUTS_V, kv) ||
      (device_set_schedule(schedule) && schedule != told->schedule))
    return cudaErrorInvalidValue;
  return attention_forward(args, stream);
}

Test(fuzz, each_problem_has_its_inputs_and_its_schedule) {
  const attention_step step = step_with(compare);
  for (int kind = 0; kind < INPUTS_KINDS; kind++) {
    fuzz_problem problem = problem_random(&step, 3, (uint64_t)kind);
    problem.inputs = (inputs_kind)kind;
    problem.seed = 77;
    problem.schedule = 1234567;
    told = &problem;
    const run_outcome outcome = run_problem(&step, &problem, true);
    cr_expect_eq(outcome.verdict, RUN_PASSED, "%s: %s", inputs_name(problem.inputs),
                 outcome.message.text);
  }
}

// Each kind of problem comes often enough that a minute has many of it.
Test(fuzz, problems_are_valid_differ_and_come_again) {
  const attention_step step = step_with(attention_forward);
  enum { CAUSAL, GROUPED, LENGTHS, BATCH, BF16, O_ALONE, PLAIN_ORDER, NO_SCALE, NEGATIVE, KINDS };
  int counts[KINDS] = {0}, inputs[INPUTS_KINDS] = {0};
  for (uint64_t i = 0; i < 1000; i++) {
    const fuzz_problem problem = problem_random(&step, 7, i);
    const fuzz_problem again = problem_random(&step, 7, i);
    const attention_shape *shape = &problem.shape;
    error_text error;
    cr_assert(shape_valid(shape, &error), "%s", error.text);
    cr_assert_str_eq(kept(problem_command(&problem, "step", true).text),
                     kept(problem_command(&again, "step", true).text));
    counts[CAUSAL] += shape->causal;
    counts[GROUPED] += shape->heads != shape->kv_heads;
    counts[LENGTHS] += shape->seq_q != shape->seq_kv;
    counts[BATCH] += shape->batch > 1;
    counts[BF16] += shape->dtype == ATTENTION_BF16;
    counts[O_ALONE] += problem.o_alone;
    counts[PLAIN_ORDER] += problem.schedule == 0;
    counts[NO_SCALE] += shape->scale == 0;
    counts[NEGATIVE] += shape->scale < 0;
    inputs[problem.inputs]++;
  }
  static const int least[KINDS] = {300, 300, 300, 150, 300, 200, 150, 30, 30};
  for (int kind = 0; kind < KINDS; kind++)
    cr_expect(counts[kind] > least[kind] && counts[kind] < 700, "kind %d: %d", kind, counts[kind]);
  for (int kind = 0; kind < INPUTS_KINDS; kind++)
    cr_expect_gt(inputs[kind], 20, "%s: %d", inputs_name((inputs_kind)kind), inputs[kind]);
}

static const char *const *three_names(void) {
  static const char *const names[] = {"a", "b", "c", NULL};
  return names;
}
static const char *takes_64(const attention_shape *shape) {
  return shape->head_dim == 64 ? NULL : "it takes 64";
}

// A step that takes few shapes still gets problems, in each of its configurations and in its own choice.
Test(fuzz, problems_are_made_for_the_step) {
  attention_step step = step_with(attention_forward);
  step.unsupported = takes_64;
  step.configurations = three_names;
  int chosen[4] = {0};
  for (uint64_t i = 0; i < 200; i++) {
    const fuzz_problem problem = problem_random(&step, 7, i);
    cr_expect_eq(problem.shape.head_dim, 64);
    chosen[problem.configuration ? 1 + (problem.configuration[0] - 'a') : 0]++;
  }
  for (int i = 0; i < 4; i++) cr_expect_gt(chosen[i], 20, "%d: %d", i, chosen[i]);
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
  cr_expect_str_eq(kept(problem_command(&problem, "build/cpu/step06", true).text),
                   "build/cpu/step06 --dtype bf16 --batch 2 --heads 6 --kv-heads 3 --seq-q 33 "
                   "--seq-kv 200 --dim 40 --causal --scale 0.125 --inputs ramp --seed 5 "
                   "--config 64x64x4x2 --o-alone --emu-seed 9");
}

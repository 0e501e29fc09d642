// The launches of a step for several GPUs that are timed, and those for O alone before and after them.
#define _GNU_SOURCE
#include "suite.h"

#include "tests/left_out.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, ROUNDS = 5, LAUNCHES = 4, IN_A_ROW = 10 };

// The rank that a time is made up for, or -1: its launches take 5 s, and those of each other rank 1 s.
static int slow_rank = -1;

// Milliseconds of a launch on all ranks, in every other round; 0 where the device tells the time.
static double even_ms, odd_ms;
static atomic_int times_read;
static gpu_group group;

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  cudaError_t (*real)(float *, cudaEvent_t, cudaEvent_t);
  void *const found = dlsym(RTLD_NEXT, "cudaEventElapsedTime");
  memcpy(&real, &found, sizeof real);
  const cudaError_t status = real(milliseconds, begin, end);
  int device = 0;
  cudaGetDevice(&device);
  if (slow_rank >= 0) *milliseconds = LAUNCHES * (device == slow_rank ? 5000.0f : 1000.0f);
  if (even_ms > 0) {
    const int round = atomic_fetch_add(&times_read, 1) / group.ranks;
    *milliseconds = (float)(IN_A_ROW * (round % 2 ? odd_ms : even_ms));
  }
  return status;
}

static trial problem;

static attention_step deal_problem(void) {
  const attention_step step = group_suite_step();
  const attention_shape shape =
      shape_in_the_build(&step, group_suite_shape(ATTENTION_FP16, 150, 150, 64, true));
  error_text error;
  int ranks = RANKS;
  while (!group_supported(&step, &shape, ranks, &error)) ranks--; // of a variant
  group_suite_prepare(&problem, &shape);
  cr_assert(group_open(&group, ranks, &error), "%s", error.text);
  cr_assert(group_deal(&group, &step, &problem, &error), "%s", error.text);
  return step;
}

// A round has ten launches, and all of them are reported.
Test(group, rounds_are_timed_and_launches_counted) {
  if (group_suite_gpus() < RANKS) return;
  const attention_step step = deal_problem();
  error_text error;
  timing_figures figures;
  cr_assert(group_measure(&group, &step, ROUNDS, &figures, &error), "%s", error.text);
  cr_expect_eq(figures.times.runs, ROUNDS);
  cr_expect_eq(figures.times.samples, 10 * ROUNDS);
  cr_expect_gt(figures.times.median, 0);
  group_close(&group);
  trial_free(&problem);
}

static atomic_bool lse_was_asked_for, next_fails;

static cudaError_t launch_nothing(const attention_args *args, const attention_group *of,
                                  cudaStream_t stream) {
  (void)of, (void)stream;
  if (args->lse) lse_was_asked_for = true;
  return next_fails ? cudaErrorInvalidValue : cudaSuccess;
}

// Times a step that does nothing in as many rounds as its noise asks for.
static timing_figures figures_of_times(double even, double odd) {
  timing_figures figures;
  error_text error;
  attention_step step = deal_problem();
  step.forward_group = launch_nothing;
  even_ms = even;
  odd_ms = odd;
  times_read = 0;
  cr_assert(group_measure(&group, &step, 0, &figures, &error), "%s", error.text);
  even_ms = 0;
  group_close(&group);
  trial_free(&problem);
  return figures;
}

// A contender has ten seconds, and a round takes ten times as long as it tells.
Test(group, rounds_end_after_ten_seconds) {
  if (group_suite_gpus() < RANKS) return;
  cr_expect_eq(figures_of_times(2000, 2000).times.runs, 1);
}

// The noise decides, and not that half a second was measured.
Test(group, rounds_go_on_while_there_is_noise) {
  if (group_suite_gpus() < RANKS) return;
  cr_expect_gt(figures_of_times(60, 70).times.runs, 10);
  cr_expect_eq(figures_of_times(60, 60).times.runs, 10);
}

// No graph is recorded of launches that are short, and lse is not asked for.
Test(group, short_launches_are_timed_as_others) {
  if (group_suite_gpus() < RANKS) return;
  const timing_figures figures = figures_of_times(0.01, 0.01);
  cr_expect_eq(figures.graph.runs, 0);
  cr_expect_float_eq(figures.times.median, 0.01, 1e-6);
  cr_expect_not(lse_was_asked_for);
}

// The sentence is that of the rank, and not that of the clock.
Test(group, a_launch_that_fails_is_told_by_its_rank) {
  if (group_suite_gpus() < RANKS) return;
  attention_step step = deal_problem();
  error_text error = {""};
  timing_figures figures;
  step.forward_group = launch_nothing;
  next_fails = true;
  cr_expect_not(group_measure(&group, &step, 0, &figures, &error));
  cr_expect(strstr(error.text, "launching the step failed: invalid argument"), "%s", error.text);
  group_close(&group);
  trial_free(&problem);
}

// All ranks have to be done before the next layer of a model begins.
Test(group, the_slowest_rank_tells_the_time) {
  if (group_suite_gpus() < RANKS) return;
  const attention_step step = deal_problem();
  for (slow_rank = 0; slow_rank < group.ranks; slow_rank++) {
    error_text error;
    double milliseconds = 0;
    cr_assert(group_time(&group, &step, LAUNCHES, 1, &milliseconds, &error), "%s", error.text);
    cr_expect_eq(milliseconds, 5000, "rank %d takes 5000 ms, and the launch %g", slow_rank,
                 milliseconds);
    // Each launch was lined up for, and the one that is not timed as well.
    cr_expect_eq(group.lined_up[slow_rank], LAUNCHES + 1);
  }
  slow_rank = -1;
  group_close(&group);
  trial_free(&problem);
}

// A file may be asked for that lse is written to, and the last launches have computed O alone.
Test(group, launches_for_o_alone_leave_lse) {
  if (group_suite_gpus() < RANKS) return;
  const attention_step step = deal_problem();
  error_text error;
  check_result result;
  cr_assert(group_run(&group, &step, LAUNCHES, &problem, &error), "%s", error.text);
  cr_expect_eq(group.lined_up[0], LAUNCHES);
  cr_assert(group_check(&group, &problem, &result), "%s", result.message.text);
  const size_t bytes = shape_lse_count(&problem.shape) * sizeof(float);
  float *before = malloc(bytes);
  cr_assert(before);
  memcpy(before, problem.lse, bytes);
  cr_expect(group_check_o_alone(&group, &step, &problem, &result), "%s", result.message.text);
  cr_expect(group_check_timed(&group, &step, &problem, &result), "%s", result.message.text);
  cr_expect_arr_eq(problem.lse, before, bytes);
  cr_expect_not(problem.o_alone);
  free(before);
  group_close(&group);
  trial_free(&problem);
}

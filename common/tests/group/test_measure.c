// The launches of a step for several GPUs that are timed, and those for O alone before and after them.
#define _GNU_SOURCE
#include "suite.h"

#include "tests/left_out.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, ROUNDS = 5, LAUNCHES = 4 };

// The rank that a time is made up for, or -1: its launches take 5 s, and those of each other rank 1 s.
static int slow_rank = -1;

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  cudaError_t (*real)(float *, cudaEvent_t, cudaEvent_t);
  void *const found = dlsym(RTLD_NEXT, "cudaEventElapsedTime");
  memcpy(&real, &found, sizeof real);
  const cudaError_t status = real(milliseconds, begin, end);
  int device = 0;
  cudaGetDevice(&device);
  if (slow_rank >= 0) *milliseconds = LAUNCHES * (device == slow_rank ? 5000.0f : 1000.0f);
  return status;
}

static gpu_group group;
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

// The launches of a step for several GPUs that are timed, and those for O alone before and after them.
#include "suite.h"

#include "tests/left_out.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, ROUNDS = 5 };

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

// A file may be asked for that lse is written to, and the last launches have computed O alone.
Test(group, launches_for_o_alone_leave_lse) {
  if (group_suite_gpus() < RANKS) return;
  const attention_step step = deal_problem();
  error_text error;
  check_result result;
  cr_assert(group_run(&group, &step, 1, &problem, &error), "%s", error.text);
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

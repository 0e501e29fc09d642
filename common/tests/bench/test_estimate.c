// How long the rest takes, by hand.
#include "bench/estimate.h"
#include "shape/shape.h"
#include <criterion/criterion.h>

static const measure_plan plan = {.samples = 100, .warm_up = 10, .seconds = 1, .least_samples = 5};

static attention_shape make_shape(int seq) {
  return (attention_shape){ATTENTION_FP16, 1, 1, 1, seq, seq, 64, false, 0.125f};
}

Test(estimate, from_the_rate_of_the_last_cell) {
  estimate so_far = {0};
  const attention_shape small = make_shape(100);
  const attention_shape large = make_shape(1000); // a hundred times the work
  cr_expect_eq(estimate_timing(&so_far, &plan, 0, &small), 0);
  estimate_learn(&so_far, 0, &small, 1); // 1 ms
  estimate_learn(&so_far, 1, &small, 10);
  // 1 ms: 10 + 100 launches. 100 ms: one launch fills a tenth of a second, ten fill one.
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 0, &small), 0.11, 1e-9);
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 0, &large), 1.1, 1e-9);
  // 10 ms: 10 and 100 launches. 1 s: one launch, and the five that are the least.
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 1, &small), 1.1, 1e-9);
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 1, &large), 6, 1e-9);

  estimate_learn_cell(&so_far, 2, 0.5);
  estimate_learn_cell(&so_far, 1, 0.5);
  const size_t steps[] = {1, 2, 0}; // nothing is known of step 2
  cr_expect_float_eq(estimate_cell(&so_far, &plan, steps, 3, &large), 1 + 6 + 1.1, 1e-9);
}

Test(estimate, without_a_limit_all_launches_are_made) {
  measure_plan endless = plan;
  endless.seconds = 0;
  estimate so_far = {0};
  const attention_shape shape = make_shape(100);
  estimate_learn(&so_far, 0, &shape, 1000);
  cr_expect_float_eq(estimate_timing(&so_far, &endless, 0, &shape), 110, 1e-9);
}

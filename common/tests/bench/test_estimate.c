// The estimate of the remaining time, compared with values computed by hand.
#include "bench/estimate.h"
#include "shape/shape.h"
#include <criterion/criterion.h>

static const timing_plan plan = {
    .rounds_least = 10, .burst_ms = 15, .warm_up = 10, .seconds_most = 4};

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
  // 1 ms: 10 launches, and ten bursts of 15. 100 ms: one launch, and ten bursts of one.
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 0, &small), 0.16, 1e-9);
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 0, &large), 1.1, 1e-9);
  // 10 ms: 10 launches, and ten bursts of two. 1 s: one launch, and as many bursts as four seconds hold.
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 1, &small), 0.3, 1e-9);
  cr_expect_float_eq(estimate_timing(&so_far, &plan, 1, &large), 5, 1e-9);

  estimate_learn_cell(&so_far, 2, 0.5);
  estimate_learn_cell(&so_far, 1, 0.5);
  const size_t steps[] = {1, 2, 0}; // nothing is known of step 2
  cr_expect_float_eq(estimate_cell(&so_far, &plan, steps, 3, &large), 1 + 5 + 1.1, 1e-9);
}

Test(estimate, without_a_limit_all_rounds_are_made) {
  timing_plan endless = plan;
  endless.seconds_most = 0;
  estimate so_far = {0};
  const attention_shape shape = make_shape(100);
  estimate_learn(&so_far, 0, &shape, 1000);
  cr_expect_float_eq(estimate_timing(&so_far, &endless, 0, &shape), 11, 1e-9);
}

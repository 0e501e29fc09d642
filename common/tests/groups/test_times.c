// The rounds of steps for several GPUs and what is computed from them, with times that the test tells and no GPU.
#define _GNU_SOURCE
#include "told_times.h"

Test(times, each_round_has_all_contenders_in_another_order) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  cr_assert_eq(runs, (ROUNDS + 1) * CONTENDERS, "%zu runs", runs); // a round to warm up
  int others = 0;
  for (size_t round = 0; round < ROUNDS; round++) {
    const char *now = order + (round + 1) * CONTENDERS;
    for (int i = 0; i < CONTENDERS; i++) {
      const contender *c = &s.contenders[i];
      const char *found = memchr(now, c->step.name[0], CONTENDERS);
      cr_assert(found, "round %zu lacks %s", round, c->step.name);
      cr_expect_eq(c->bursts[round].place, (size_t)(found - now));
      cr_expect_eq(c->bursts[round].launches, 1);
    }
    others += round > 0 && memcmp(now, now - CONTENDERS, CONTENDERS) != 0;
  }
  cr_expect_gt(others, ROUNDS / 2, "%d orders differ from the one before: %s", others, order);
}

// The times drift by a tenth, and the pairs of a round do not.
Test(times, ratios_come_from_pairs_of_a_round) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  const groups_result one = groups_result_of(&s, &s.contenders[0], &shape);
  cr_expect_float_eq(one.efficiency.ratio, 1, 1e-6);
  cr_expect(isnan(one.link_share) && isnan(one.gb_per_s) && one.arriving_bytes == 0);
  const groups_result several = groups_result_of(&s, &s.contenders[1], &shape);
  const statistics_summary *times = &several.figures.times;
  cr_expect(times->runs == ROUNDS && times->high > 1.03 * times->low, "%g", times->high);
  cr_expect_float_eq(several.efficiency.ratio, 0.8, 1e-6);
  cr_expect_float_eq(several.efficiency.interval.low, 0.8, 1e-6);
  cr_expect_float_eq(several.efficiency.interval.high, 0.8, 1e-6);
  cr_expect_float_eq(several.link_share, 0.2, 1e-6);
  cr_expect_eq(several.arriving_bytes, bytes);
  const groups_result exchange = groups_result_of(&s, &s.contenders[3], &shape);
  const double middle = 1 + 0.01 * (ROUNDS + 1) / 2.0; // of the rounds, times 1 ms for the copies
  cr_expect_float_eq(exchange.link_gb_per_s, bytes / middle * 1e-6, 1e-3);
  cr_expect_float_eq(exchange.gb_per_s, bytes / middle / 2 * 1e-6, 1e-3);
  cr_expect_float_eq(exchange.link_share, 0.5, 1e-6);
  cr_expect(isnan(exchange.efficiency.ratio));
  // The products alone have an efficiency and no bytes that arrive.
  const groups_result products = groups_result_of(&s, &s.contenders[5], &shape);
  cr_expect_float_eq(products.efficiency.ratio, 8 / 4.4 / 2, 1e-6);
  cr_expect(products.arriving_bytes == 0 && isnan(products.gb_per_s) && isnan(products.link_share));
  // A meeting has neither.
  const groups_result meeting = groups_result_of(&s, &s.contenders[6], &shape);
  cr_expect(meeting.arriving_bytes == 0 && isnan(meeting.gb_per_s) && isnan(meeting.link_share) &&
            isnan(meeting.efficiency.ratio));
  // A variant may move other bytes.
  const groups_result variant = groups_result_of(&s, &s.contenders[2], &shape);
  cr_expect(isnan(variant.arriving_bytes) && isnan(variant.link_share));
  cr_expect_float_eq(variant.efficiency.ratio, 1, 1e-6);
}

// A short contender has its time from enough launches, and a long one has few.
Test(times, a_row_of_launches_takes_about_40_ms) {
  error_text error;
  choosing = true;
  s.gauge = (groups_gauge){tell_time, tell_state, tell_rest};
  add("short", NULL, 2, GROUPS_WHOLE);
  add("long", NULL, 2, GROUPS_WHOLE);
  add("meeting", NULL, 2, GROUPS_MEETING);
  cr_assert(groups_choose_launches(&s, &shape, &error), "%s", error.text);
  cr_expect(s.contenders[0].launches > 37 && s.contenders[0].launches <= 40, "%d",
            s.contenders[0].launches);
  cr_expect_eq(s.contenders[1].launches, 3);
  cr_expect_eq(s.contenders[2].launches, 4000);
  cr_expect_leq(tries, 9);
  s.device.emulated = true;
  cr_assert(groups_choose_launches(&s, &shape, &error), "%s", error.text);
  cr_expect_eq(s.contenders[2].launches, 1);
}

Test(times, a_gpu_that_is_held_back_marks_its_rounds) {
  error_text error;
  cr_assert(run(&error), "%s", error.text);
  for (int i = 0; i < CONTENDERS; i++) {
    const timing_figures figures = timing_figure(&s.timed[i]);
    cr_expect_eq(figures.throttled_rounds, i == 1 ? ROUNDS : 0, "%s", s.contenders[i].step.name);
    cr_expect(figures.sm_clock_mhz == 1980 && figures.power_w == (i == 0 ? 301 : 302));
  }
  cr_expect_gt(rested, 0.01 * (ROUNDS - 1), "%g s", rested);
}

Test(times, a_failure_ends_the_run_with_the_sentence_of_the_group) {
  error_text error;
  failing = 'e';
  cr_expect(!run(&error));
  cr_expect_str_eq(error.text, "exchange on 2 GPUs, 16384 rows, timed: told to fail");
}

// The noise alone decides how many rounds there are, and a burst is one row of launches. On the emulator one round will do.
Test(times, plan_of_the_rounds) {
  const timing_plan plan = groups_plan(false), usual = timing_default_plan();
  cr_expect(isinf(plan.seconds_least) && plan.burst_ms == 0 && plan.graph_below_ms == 0);
  cr_expect(plan.rounds_least == usual.rounds_least && plan.rounds_most == usual.rounds_most);
  const timing_plan rehearsed = groups_plan(true);
  cr_expect(rehearsed.rounds_least == 1 && rehearsed.rounds_most == 1);
}

// The plan of a timing run: who is launched when, on which buffers, until when.
#include "fake_clock.h"
#include "timing/event_clock.h"

// --- rounds and bursts

// Launches of 10 ms: two fill a burst of 15, and one goes before them that is not kept.
Test(rounds, every_contender_has_one_burst_a_round) {
  contender all[3] = {{'A', 0, 10, 0, 0}, {'B', 0, 10, 0, 0}, {'C', 0, 10, 0, 0}};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 12;
  plan.rotations = 7;
  plan.warm_up = 1;
  run(&plan, all, 3);
  cr_assert_eq(launches, 3 + 12 * 3 * 3);
  bool orders[6] = {false};
  for (size_t round = 0; round < 12; round++) {
    const char *own = order + 3 + 9 * round;
    size_t place[3];
    for (size_t i = 0; i < 3; i++) {
      const size_t first = (size_t)(strchr(own, "ABC"[i]) - own);
      place[i] = first / 3;
      cr_expect(first % 3 == 0 && own[first + 1] == own[first] && own[first + 2] == own[first],
                "round %zu is %.9s", round, own);
      cr_expect_eq(contenders[i].bursts[round].place, place[i], "round %zu", round);
    }
    cr_expect_eq(place[0] + place[1] + place[2], 3, "round %zu is %.9s", round, own);
    orders[place[0] * 2 + (place[1] > place[2])] = true;
  }
  size_t different = 0;
  for (size_t i = 0; i < 6; i++) different += orders[i];
  cr_expect_geq(different, 4, "%zu orders in 12 rounds", different);
  for (size_t i = 0; i < launches; i++) cr_expect_eq(rotations[i], i % 7, "launch %zu", i);
  for (size_t i = 0; i < 3; i++) {
    cr_expect(contenders[i].rounds == 12 && !contenders[i].failure);
    cr_expect(contenders[i].bursts[11].launches == 2 && contenders[i].bursts[11].median == 10);
  }
}

Test(rounds, another_seed_is_another_order) {
  contender all[3] = {{'A', 0, 10, 0, 0}, {'B', 0, 10, 0, 0}, {'C', 0, 10, 0, 0}};
  timing_plan plan = small_plan();
  char kept[3][MOST + 1];
  static const uint64_t seeds[3] = {1, 1, 2};
  for (size_t i = 0; i < 3; i++) {
    launches = 0;
    plan.seed = seeds[i];
    run(&plan, all, 3);
    memcpy(kept[i], order, sizeof order);
  }
  cr_expect_str_eq(kept[0], kept[1]);
  cr_expect_str_neq(kept[0], kept[2]);
}

// Short launches fill a burst with more of them, up to twenty; a long launch has a burst of its own.
Test(rounds, launches_of_a_burst) {
  static const struct {
    float milliseconds;
    size_t launches;
  } cases[] = {{0.01f, 20}, {1, 15}, {4, 4}, {15, 1}, {400, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    contender one = {'A', 0, cases[i].milliseconds, 0, 0};
    timing_plan plan = small_plan();
    plan.warm_up = 1; // tells how long a launch is
    run(&plan, &one, 1);
    cr_expect_eq(bursts[0][0].launches, cases[i].launches, "%g ms: %zu",
                 (double)cases[i].milliseconds, bursts[0][0].launches);
    cr_expect_float_eq(bursts[0][0].median, (double)cases[i].milliseconds, 1e-6);
  }
}

Test(rounds, warm_up_is_not_kept) {
  contender one = {'A', 0, 20, 1, 0}; // 20, 21, 22, ... ms: five fill a tenth of a second
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.warm_up = 10;
  run(&plan, &one, 1);
  cr_expect_eq(launches, 5 + 5);
  for (size_t i = 0; i < 5; i++) cr_expect_eq(bursts[0][i].milliseconds[0], 25 + (double)i);
}

// After one that warms up, and one that finds the caches of another kernel.
Test(rounds, a_burst_has_the_median_of_its_launches) {
  contender one = {'A', 0, 5, 1, 0}; // 5, 6, 7, ... ms
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 1;
  run(&plan, &one, 1);
  cr_expect_eq(bursts[0][0].launches, 3);
  cr_expect_eq(bursts[0][0].median, 8, "%g", bursts[0][0].median);
}

// One launch tells how long the others will be, even if none is asked for. A slow contender would have a burst of twenty
// launches otherwise, and be recorded in a graph.
Test(rounds, without_a_warm_up) {
  contender one = {'A', 0, 700, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 1;
  plan.graph_below_ms = 0.05;
  run(&plan, &one, 1);
  cr_expect_eq(launches, 1 + 1, "%zu launches", launches);
  cr_expect(bursts[0][0].launches == 1 && isnan(bursts[0][0].graph_ms));
}

// Of launches without a time it is not known that they are short.
Test(rounds, no_time_is_no_reason_for_a_graph) {
  contender one = {'A', 0, 0, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 1;
  plan.graph_below_ms = 0.05;
  run(&plan, &one, 1);
  cr_expect(isnan(bursts[0][0].graph_ms));
}

// --- when it is enough

// Without noise ten rounds are enough, whatever they take. With noise it goes on until half a second was
// measured, and no longer than thirty rounds.
Test(rounds, until_half_a_second_or_little_noise) {
  static const struct {
    float milliseconds, growth;
    size_t rounds;
  } cases[] = {
      {1, 0, 10},         // ten bursts of 15 ms without noise
      {15, 0.75f, 22},    // 15.75, 16.5, ... after the warm-up: the 22nd reaches 500 ms
      {0.1f, 0.002f, 30}, // bursts too short for half a second
      {100, 9, 10},       // ten rounds are the least
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    contender one = {'A', 0, cases[i].milliseconds, cases[i].growth, 0};
    timing_plan plan = small_plan();
    launches = 0;
    plan.warm_up = 1;
    run(&plan, &one, 1);
    cr_expect_eq(contenders[0].rounds, cases[i].rounds, "case %zu: %zu rounds", i,
                 contenders[0].rounds);
  }
}

// A contender without noise stops after ten rounds, and its burst is missing in the rounds of the other one. Their
// ratio is of the rounds that both have.
Test(rounds, a_contender_that_has_enough_stops) {
  contender all[2] = {{'A', 0, 1, 0, 0}, {'B', 0, 16, 0.25f, 0}};
  timing_plan plan = small_plan();
  plan.warm_up = 1;
  run(&plan, all, 2);
  cr_expect_eq(contenders[0].rounds, 10);
  cr_expect_gt(contenders[1].rounds, 10);
  cr_expect(isfinite(timing_ratio(&contenders[0], &contenders[1]).interval.low));
}

// Launches of 1 and of 700 ms, four seconds at most: five rounds of the slow one, with an interval. One of
// five seconds has a single round, and no interval.
Test(rounds, a_slow_contender_leaves_early) {
  contender all[3] = {{'A', 0, 1, 0, 0}, {'B', 0, 700, 0, 0}, {'C', 0, 5000, 0, 0}};
  timing_plan plan = small_plan();
  plan.seconds_most = 4;
  plan.warm_up = 1;
  run(&plan, all, 3);
  cr_expect_eq(contenders[0].rounds, 10);
  cr_expect_eq(contenders[1].rounds, 5);
  cr_expect_eq(contenders[2].rounds, 1);
  cr_expect(isfinite(timing_figure(&contenders[1]).times.low));
  cr_expect(isnan(timing_figure(&contenders[2]).times.low));
  cr_expect_eq(timing_figure(&contenders[2]).times.median, 5000);
}

// Six bursts of four launches take 96 ms, and the seventh would go beyond a tenth of a second.
Test(rounds, a_whole_burst_must_fit) {
  contender one = {'A', 0, 4, 0, 0};
  timing_plan plan = small_plan();
  plan.seconds_most = 0.1;
  plan.warm_up = 1;
  run(&plan, &one, 1);
  cr_expect_eq(contenders[0].rounds, 6, "%zu rounds", contenders[0].rounds);
  plan.seconds_most = 0; // which means no end, and not at once
  run(&plan, &one, 1);
  cr_expect_eq(contenders[0].rounds, 10, "%zu rounds", contenders[0].rounds);
}

// As the header and the README say.
Test(rounds, the_default_plan) {
  const timing_plan plan = timing_default_plan();
  cr_expect(plan.rounds_least == 10 && plan.rounds_most == 30 && plan.seconds_least == 0.5 &&
            plan.noise == 0.005 && plan.seconds_most == 10);
  cr_expect(plan.burst_ms == 15 && plan.graph_below_ms == 0.05 && plan.warm_up == 10 &&
            plan.rotations == 1);
  cr_expect(plan.seed == 0 && !plan.quiet && !plan.clock);
}

// --- a launch must not hold time of the host

Test(rounds, a_launch_in_which_the_host_was_late_is_taken_again) {
  contender one = {'A', 0, 20, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.warm_up = 1;
  late_at = 4;
  run(&plan, &one, 1);
  cr_expect_eq(launches, 1 + 5 + 1);
  cr_expect_eq(contenders[0].rounds, 5);
}

Test(rounds, one_that_waits_for_the_gpu_is_left_out) {
  contender all[2] = {{'A', 0, 20, 0, 0}, {'B', 0, 20, 0, 0}};
  const timing_plan plan = small_plan();
  always_late = 'B';
  run(&plan, all, 2);
  cr_expect(contenders[0].rounds == 10 && !contenders[0].failure);
  cr_expect(contenders[1].rounds == 0 && strstr(contenders[1].failure, "it waits for the GPU"));
  // It is launched until the host has had the longest time that the clock gives it, and never again.
  size_t attempts = 1, taken = 0;
  for (long long spin = EVENT_LEAST_SPIN; spin < EVENT_MOST_SPIN; attempts++)
    spin = event_next_spin(spin, true);
  for (size_t i = 0; i < launches; i++) taken += order[i] == 'B';
  cr_expect_eq(taken, attempts, "%zu launches, not %zu", taken, attempts);
}

Test(rounds, the_spin_grows_as_the_host_needs_it) {
  long long spin = EVENT_LEAST_SPIN;
  for (int i = 0; i < 5; i++) spin = event_next_spin(spin, true);
  cr_expect_eq(spin, 32 * EVENT_LEAST_SPIN);
  cr_expect_eq(event_next_spin(spin, false), 28 * EVENT_LEAST_SPIN);
  for (int i = 0; i < 99; i++) spin = event_next_spin(spin, true);
  cr_expect_eq(spin, EVENT_MOST_SPIN);
  for (int i = 0; i < 999; i++) spin = event_next_spin(spin, false);
  cr_expect_eq(spin, EVENT_LEAST_SPIN);
}

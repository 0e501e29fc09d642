// Tests the use of the clock, the power and the reasons that a GPU tells during a timing run.
#include "fake_clock.h"
#include "timing/told_clock.h"

Test(states, a_dropped_clock_is_seen_and_given_time) {
  contender one = {'A', 0, 20, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  state = (monitor_reading){1980, 500, false};
  run(&plan, &one, 1);
  cr_expect(rests == 0 && !bursts[0][4].throttled && bursts[0][4].state.power_w == 500);

  state = (monitor_reading){1980, 690, true}; // NVML's reasons say so
  run(&plan, &one, 1);
  const timing_figures figures = timing_figure(&contenders[0]);
  cr_expect(bursts[0][0].throttled && figures.throttled_rounds == 5 && timing_throttled(&figures));
  cr_expect_eq(rests, 4, "%zu rests", rests); // before all but the first burst
  cr_expect_float_eq(rested, 0.01 + 0.02 + 0.04 + 0.06, 1e-9, "%g s", rested);
}

static float clock_by_time;
static monitor_reading read_slower(void *context) {
  (void)context;
  clock_by_time -= 30; // from 1980: 1950, 1920, 1890, ...
  return (monitor_reading){clock_by_time, 600, false};
}

Test(states, a_clock_is_compared_with_the_highest) {
  contender one = {'A', 0, 20, 0, 0};
  const timing_clock clock = {fake_start, fake_stop, read_slower, fake_pause, "clock"};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.clock = &clock;
  clock_by_time = 2010; // 1980 before the first burst
  run(&plan, &one, 1);
  static const bool expected[5] = {false, true, true, true, true}; // 0.97 * 1980 = 1920.6
  for (size_t i = 0; i < 5; i++) cr_expect_eq(bursts[0][i].throttled, expected[i], "round %zu", i);
  const timing_figures figures = timing_figure(&contenders[0]);
  cr_expect(figures.sm_clock_mhz == 1890 && figures.power_w == 600);
}

// Readings before the first burst, and behind each burst.
static const monitor_reading *sequence;
static monitor_reading read_sequence(void *context) {
  (void)context;
  return *sequence++;
}

static void run_through(const monitor_reading *readings, size_t rounds) {
  contender one = {'A', 0, 20, 0, 0};
  const timing_clock clock = {fake_start, fake_stop, read_sequence, fake_pause, "clock"};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = rounds;
  plan.seconds_least = 1e9;
  plan.noise = 0;
  plan.clock = &clock;
  sequence = readings;
  run(&plan, &one, 1);
  cr_assert_eq(contenders[0].rounds, rounds);
}

// An idle GPU has a low clock, or tells none.
Test(states, the_highest_clock_may_come_later) {
  static const double first[] = {1200, NAN};
  for (size_t i = 0; i < 2; i++) {
    const monitor_reading readings[] = {
        {first[i], 90, false}, {1980, 600, false}, {1900, 600, false}};
    run_through(readings, 2);
    cr_expect(!bursts[0][0].throttled && bursts[0][1].throttled, "case %zu", i);
  }
}

// Three bursts are throttled. Before the one after them the pause is the longest, and 0.7 times as long before each of
// the next eight; then it is too short.
Test(states, the_pause_shrinks_again) {
  monitor_reading readings[15];
  for (size_t i = 0; i < 15; i++) readings[i] = (monitor_reading){1980, 600, i >= 1 && i <= 3};
  run_through(readings, 14);
  double expected = 0.01 + 0.02, pause = 0.04;
  for (size_t i = 0; i <= 8; i++, pause *= 0.7) expected += pause;
  cr_expect_eq(rests, 2 + 9, "%zu rests", rests);
  cr_expect_float_eq(rested, expected, 1e-9, "%g s", rested);
}

Test(states, without_a_monitor_nothing_is_known_and_nothing_claimed) {
  contender one = {'A', 0, 20, 0, 0};
  const timing_clock clock = {fake_start, fake_stop, NULL, NULL, "clock"};
  timing_plan plan = small_plan();
  plan.clock = &clock;
  run(&plan, &one, 1);
  const timing_figures figures = timing_figure(&contenders[0]);
  cr_expect(isnan(figures.sm_clock_mhz) && isnan(figures.power_w) && !figures.throttled_rounds);
  cr_expect(!timing_throttled(&figures));
}

// It gives what it has been told, and every launch is in time.
Test(states, a_clock_that_is_told_its_time) {
  told_time told = {.milliseconds = 2.5, .state = {1755, 690, true}, .pause = fake_pause};
  const timing_clock clock = told_clock(&told);
  float milliseconds = 0;
  bool in_time = false;
  cr_expect_eq(clock.start(clock.context, NULL), cudaSuccess);
  cr_expect_eq(clock.stop(clock.context, NULL, &milliseconds, &in_time), cudaSuccess);
  cr_expect(milliseconds == 2.5f && in_time);
  const monitor_reading read = clock.read(clock.context);
  cr_expect(read.sm_clock_mhz == 1755 && read.power_w == 690 && read.held_back);
  clock.pause(clock.context, 0.25);
  cr_expect(rests == 1 && rested == 0.25);
}

Test(states, the_slowest_of_several_gpus_counts) {
  const monitor_reading fast = {1980, 500, false}, slow = {1755, 690, true},
                        unknown = {NAN, NAN, false};
  const monitor_reading both = monitor_together(fast, slow);
  cr_expect(both.sm_clock_mhz == 1755 && both.power_w == 690 && both.held_back);
  const monitor_reading one = monitor_together(unknown, fast);
  cr_expect(one.sm_clock_mhz == 1980 && one.power_w == 500 && !one.held_back);
  const monitor_reading none = monitor_read_devices(0);
  cr_expect(isnan(none.sm_clock_mhz) && isnan(none.power_w) && !none.held_back);
}

Test(states, reasons_that_hold_a_gpu_back) {
  static const struct {
    unsigned long long reasons;
    bool back;
  } cases[] = {{0, false},   {0x1, false}, {0x2, false}, {0x4, true},    {0x8, true}, {0x10, false},
               {0x20, true}, {0x40, true}, {0x80, true}, {0x100, false}, {0x5, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cr_expect_eq(monitor_reasons_hold_back(cases[i].reasons), cases[i].back, "%llx",
                 cases[i].reasons);
  }
}

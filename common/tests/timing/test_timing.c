// The plan of a timing run: who is launched when, on which buffers, until when. Launches only take
// notes, and the clock is a fake one, on which each launch takes as long as its contender says.
#include "device/device.h"
#include "timing/event_clock.h"
#include "timing/figures.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 20000 };

typedef struct {
  char name;
  size_t fail_at;      // the launch that fails; 0 for none
  float milliseconds;  // of the first launch
  float growth;        // added to each launch after it
  size_t own_launches; // so far
} contender;

static char order[MOST + 1]; // of the launches, by name
static size_t rotations[MOST];
static size_t launches;
// Not the address of a stream: only the test in which the device records a graph on it needs a real one.
static cudaStream_t stream_given = (cudaStream_t)&launches;

// --- the fake clock, which also tells the GPU's state

static double now; // milliseconds
static double started;
static size_t launched;  // when it was started
static double replay_ms; // of a replay in which no launch is called, as on a GPU
static size_t starts, stops;
static size_t fail_start_at, fail_stop_at; // 0 for never
static size_t late_at;                     // the stop whose time holds the host's; 0 for none
static char always_late;                   // a contender that always waits
static monitor_reading state = {NAN, NAN, false};
static double rested; // seconds
static size_t rests;

static cudaError_t fake_start(void *context, cudaStream_t stream) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == stream_given, "another stream");
  cr_assert_eq(starts, stops, "started twice");
  started = now;
  launched = launches;
  return ++starts == fail_start_at ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t fake_stop(void *context, cudaStream_t stream, float *milliseconds,
                             bool *in_time) {
  cr_assert_eq(*(char *)context, 'c');
  cr_assert(stream == stream_given, "another stream");
  if (launches == launched) now += replay_ms;
  *milliseconds = (float)(now - started);
  now += 1; // what is not between start and stop must not count
  stops++;
  *in_time = stops != late_at && !(always_late && launches && order[launches - 1] == always_late);
  return stops == fail_stop_at ? cudaErrorInvalidValue : cudaSuccess;
}

static monitor_reading fake_read(void *context) {
  (void)context;
  return state;
}

static void fake_pause(void *context, double seconds) {
  (void)context;
  rested += seconds;
  rests++;
}

static const timing_clock fake_clock = {fake_start, fake_stop, fake_read, fake_pause, "clock"};

static cudaError_t take_note(void *context, size_t rotation, cudaStream_t stream) {
  contender *who = context;
  cr_assert(stream == stream_given, "another stream");
  cr_assert_lt(launches, (size_t)MOST);
  order[launches] = who->name;
  rotations[launches] = rotation;
  launches++;
  now += (double)who->milliseconds + (double)who->growth * (double)who->own_launches++;
  return who->fail_at == launches ? cudaErrorInvalidValue : cudaSuccess;
}

enum { FEW = 4 };
static timing_burst bursts[FEW][TIMING_MOST_ROUNDS];
static timing_contender contenders[FEW];

static timing_plan small_plan(void) {
  timing_plan plan = timing_default_plan();
  plan.warm_up = 0;
  plan.seed = 5;
  plan.graph_below_ms = 0;
  plan.clock = &fake_clock;
  return plan;
}

static void run(const timing_plan *plan, contender *all, size_t count) {
  error_text error;
  memset(bursts, 0xff, sizeof bursts); // NaN
  for (size_t i = 0; i < count; i++) {
    contenders[i] = (timing_contender){"x", take_note, &all[i], bursts[i], 99, "not set", false};
  }
  cr_assert(timing_run(plan, contenders, count, stream_given, &error), "%s", error.text);
}

// --- rounds and bursts

// Launches of 10 ms: two fill a burst of 15, and one goes before them that is not kept.
Test(timing, every_contender_has_one_burst_a_round) {
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

Test(timing, another_seed_is_another_order) {
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
Test(timing, launches_of_a_burst) {
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

Test(timing, warm_up_is_not_kept) {
  contender one = {'A', 0, 20, 1, 0}; // 20, 21, 22, ... ms: five fill a tenth of a second
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.warm_up = 10;
  run(&plan, &one, 1);
  cr_expect_eq(launches, 5 + 5);
  for (size_t i = 0; i < 5; i++) cr_expect_eq(bursts[0][i].milliseconds[0], 25 + (double)i);
}

// --- when it is enough

// Without noise ten rounds are enough, whatever they take. With noise it goes on until half a second was
// measured, and no longer than thirty rounds.
Test(timing, until_half_a_second_or_little_noise) {
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
Test(timing, a_contender_that_has_enough_stops) {
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
Test(timing, a_slow_contender_leaves_early) {
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

// --- a launch must not hold time of the host

Test(timing, a_launch_in_which_the_host_was_late_is_taken_again) {
  contender one = {'A', 0, 20, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.warm_up = 1;
  late_at = 4;
  run(&plan, &one, 1);
  cr_expect_eq(launches, 1 + 5 + 1);
  cr_expect_eq(contenders[0].rounds, 5);
}

Test(timing, one_that_waits_for_the_gpu_is_left_out) {
  contender all[2] = {{'A', 0, 20, 0, 0}, {'B', 0, 20, 0, 0}};
  const timing_plan plan = small_plan();
  always_late = 'B';
  run(&plan, all, 2);
  cr_expect(contenders[0].rounds == 10 && !contenders[0].failure);
  cr_expect(contenders[1].rounds == 0 && strstr(contenders[1].failure, "it waits for the GPU"));
}

Test(timing, the_spin_grows_as_the_host_needs_it) {
  long long spin = EVENT_LEAST_SPIN;
  for (int i = 0; i < 5; i++) spin = event_next_spin(spin, true);
  cr_expect_eq(spin, 32 * EVENT_LEAST_SPIN);
  cr_expect_eq(event_next_spin(spin, false), 28 * EVENT_LEAST_SPIN);
  for (int i = 0; i < 99; i++) spin = event_next_spin(spin, true);
  cr_expect_eq(spin, EVENT_MOST_SPIN);
  for (int i = 0; i < 999; i++) spin = event_next_spin(spin, false);
  cr_expect_eq(spin, EVENT_LEAST_SPIN);
}

// --- clock and power

Test(timing, a_dropped_clock_is_seen_and_given_time) {
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
  cr_expect(rested > 4 * 0.01 && rested <= 4 * 0.06, "%g s", rested);
}

static float clock_by_time;
static monitor_reading read_slower(void *context) {
  (void)context;
  clock_by_time -= 30; // from 1980: 1950, 1920, 1890, ...
  return (monitor_reading){clock_by_time, 600, false};
}

Test(timing, a_clock_is_compared_with_the_highest) {
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

Test(timing, without_a_monitor_nothing_is_known_and_nothing_claimed) {
  contender one = {'A', 0, 20, 0, 0};
  const timing_clock clock = {fake_start, fake_stop, NULL, NULL, "clock"};
  timing_plan plan = small_plan();
  plan.clock = &clock;
  run(&plan, &one, 1);
  const timing_figures figures = timing_figure(&contenders[0]);
  cr_expect(isnan(figures.sm_clock_mhz) && isnan(figures.power_w) && !figures.throttled_rounds);
  cr_expect(!timing_throttled(&figures));
}

Test(timing, reasons_that_hold_a_gpu_back) {
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

// --- graphs

// Launches of 10 us on 7 sets: a graph has 14 of them, each set twice, and four replays a round. A GPU calls them
// once, while it records them after the warm-up; the emulator calls them at each replay.
Test(timing, short_launches_are_replayed_as_a_graph) {
  contender all[2] = {{'A', 0, 0.01f, 0, 0}, {'B', 0, 20, 0, 0}};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.warm_up = 1;
  plan.rotations = 7;
  plan.graph_below_ms = 0.05;
  replay_ms = 0.14;
  cr_assert_eq(cudaStreamCreate(&stream_given), cudaSuccess);
  run(&plan, all, 2);
  for (size_t i = 0; i < 5; i++) {
    cr_expect_float_eq(bursts[0][i].graph_ms, 0.01, 1e-4, "%g", bursts[0][i].graph_ms);
    cr_expect(isnan(bursts[1][i].graph_ms));
  }
  const size_t calls = device_runs_behind() ? 1 : 5 * 4; // of the graph's launches
  cr_expect_eq(launches, 2 + 5 * (1 + 20) + 5 * 1 + calls * 14, "%zu launches", launches);
  cr_expect_eq(stops, 2 + 5 * (1 + 20 + 4) + 5 * 1, "%zu times", stops);
  const timing_figures figures = timing_figure(&contenders[0]);
  cr_expect_eq(figures.graph.runs, 5);
  cr_expect_eq(timing_figure(&contenders[1]).graph.runs, 0);
  const char *const burst = strstr(order, "AAAAAAAAAAAAAAAAAAAAA"); // of 21
  cr_assert(burst, "%s", order);
  const size_t first = device_runs_behind() ? 1 : (size_t)(burst - order) + 21;
  for (size_t i = 0; i < 14; i++) {
    cr_expect(order[first + i] == 'A' && rotations[first + i] == i % 7, "launch %zu", first + i);
  }
  cr_expect_eq(cudaStreamDestroy(stream_given), cudaSuccess);
}

// --- errors

Test(timing, a_failure_ends_the_run_by_name) {
  for (int place = 0; place < 3; place++) { // start, launch, stop
    contender a = {'A', place == 1 ? 3 : 0, 20, 0, 0};
    timing_contender one = {"step 07", take_note, &a, bursts[0], 0, NULL, false};
    const timing_plan plan = small_plan();
    error_text error;
    launches = starts = stops = 0;
    fail_start_at = place == 0 ? 3 : 0;
    fail_stop_at = place == 2 ? 3 : 0;
    cr_expect(!timing_run(&plan, &one, 1, (cudaStream_t)&launches, &error));
    cr_expect_eq(launches, place == 0 ? 2 : 3);
    cr_expect_str_eq(error.text, "step 07 failed: invalid argument (cudaErrorInvalidValue)", "%s",
                     error.text);
  }
}

Test(timing, no_contender) {
  const timing_plan plan = timing_default_plan();
  error_text error;
  cr_expect(timing_run(&plan, NULL, 0, NULL, &error));
}

static cudaError_t launch_nothing(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation, (void)stream;
  ++*(size_t *)context;
  return cudaSuccess;
}

Test(timing, events_are_the_clock_by_default) {
  size_t count = 0;
  timing_contender one = {"a", launch_nothing, &count, bursts[0], 0, NULL, false};
  timing_plan plan = timing_default_plan();
  plan.rounds_least = plan.rounds_most = 5;
  plan.graph_below_ms = 0;
  error_text error;
  cr_assert(timing_run(&plan, &one, 1, NULL, &error), "%s", error.text);
  cr_expect_eq(one.rounds, 5);
  cr_expect_geq(count, 5 * 2);
  cr_expect(bursts[0][4].median >= 0 && bursts[0][4].median < 1000);
}

// --- buffers

// Between two uses of a set, all others are used: they hold at least twice the cache.
Test(timing, buffers_outgrow_the_cache_twice) {
  static const size_t l2_bytes = 60u << 20;
  static const size_t sizes[] = {1000, 1 << 20, 3 << 19, 8u << 20, 60u << 20, 119u << 20, 1u << 30};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t sets = timing_rotations(sizes[i], l2_bytes);
    cr_expect((sets - 1) * sizes[i] >= 2 * l2_bytes, "%zu sets of %zu", sets, sizes[i]);
    cr_expect((sets - 2) * sizes[i] < 2 * l2_bytes, "%zu sets of %zu", sets, sizes[i]);
  }
  cr_expect_eq(timing_rotations(3 << 19, l2_bytes), 81); // a problem of 1.5 MB
  cr_expect_eq(timing_rotations(0, 1000), 1);
  cr_expect_eq(timing_rotations(100, 0), 1);
}

// --- figures

Test(timing, figures_by_hand) {
  static timing_burst own[2][TIMING_MOST_ROUNDS];
  timing_contender a = {.bursts = own[0], .rounds = 7};
  timing_contender b = {.bursts = own[1], .rounds = 5};
  for (size_t i = 0; i < 7; i++) {
    own[0][i] = (timing_burst){.launches = 2,
                               .milliseconds = {(double)i + 1, (double)i + 3},
                               .median = (double)i + 2,
                               .graph_ms = i < 2 ? NAN : 1 + (double)i,
                               .state = {1980 - (double)i, 600 + (double)i, false},
                               .throttled = i == 6};
    own[1][i] = (timing_burst){.launches = 1, .median = 2 * ((double)i + 2)};
  }
  const timing_figures figures = timing_figure(&a);
  cr_expect(figures.times.runs == 7 && figures.times.samples == 14 && figures.times.median == 5);
  cr_expect(figures.times.low >= 2 && figures.times.high <= 8 && figures.times.low < 5);
  cr_expect(figures.graph.runs == 5 && figures.graph.median == 5);
  cr_expect(figures.sm_clock_mhz == 1977 && figures.power_w == 603);
  cr_expect(figures.throttled_rounds == 1 && !timing_throttled(&figures));
  const statistics_ratio ratio = timing_ratio(&b, &a); // the five rounds that both have
  cr_expect(ratio.ratio == 2 && ratio.interval.low == 2 && ratio.interval.high == 2);
  b.rounds = 4;
  cr_expect(timing_ratio(&b, &a).ratio == 2 && isnan(timing_ratio(&b, &a).interval.low));
  b.rounds = 0;
  cr_expect(isnan(timing_ratio(&b, &a).ratio) && timing_figure(&b).times.runs == 0);
}

// Graphs, failures, buffers and figures of a timing run.
#include "fake_clock.h"
#include "timing/floor.h"

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

// The first replay brings the graph to the GPU, and the median is that of the three after it. On the emulator each replay
// has ten launches, which take longer and longer: after 22 others they take 46.5 growths more in the middle one.
Test(timing, the_first_replay_is_not_kept) {
  if (device_runs_behind()) return; // a GPU calls no launch
  contender one = {'A', 0, 0.01f, 1e-4f, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 1;
  plan.graph_below_ms = 0.05;
  run(&plan, &one, 1);
  cr_expect_float_eq(bursts[0][0].graph_ms, 0.01 + 46.5e-4, 1e-5, "%g", bursts[0][0].graph_ms);
}

// A graph would have a launch for each of the sets.
Test(timing, thousands_of_sets_are_too_many_for_a_graph) {
  contender one = {'A', 0, 0.01f, 0, 0};
  timing_plan plan = small_plan();
  plan.rounds_least = plan.rounds_most = 1;
  plan.graph_below_ms = 0.05;
  plan.rotations = 4097;
  run(&plan, &one, 1);
  cr_expect(isnan(bursts[0][0].graph_ms));
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
  const statistics_ratio inverse = timing_ratio(&a, &b);
  cr_expect(inverse.ratio == 0.5 && inverse.interval.low == 0.5 && inverse.interval.high == 0.5);
  b.rounds = 4;
  cr_expect(timing_ratio(&b, &a).ratio == 2 && isnan(timing_ratio(&b, &a).interval.low));
  b.rounds = 0;
  cr_expect(isnan(timing_ratio(&b, &a).ratio) && timing_figure(&b).times.runs == 0);
}

Test(timing, half_of_the_rounds_are_enough_to_be_throttled) {
  timing_figures figures = {.times = {.runs = 10}, .throttled_rounds = 5};
  cr_expect(timing_throttled(&figures));
  figures.throttled_rounds = 4;
  cr_expect(!timing_throttled(&figures));
  figures = (timing_figures){0};
  cr_expect(!timing_throttled(&figures), "without a round");
}

Test(timing, the_floor_is_of_the_two_contenders) {
  static timing_burst kernel_bursts[1] = {{.launches = 1, .median = 5, .graph_ms = 3}};
  static timing_burst nothing_bursts[1] = {{.launches = 1, .median = 2, .graph_ms = 1}};
  const timing_contender nothing = {.bursts = nothing_bursts, .rounds = 1};
  const timing_contender kernel = {.bursts = kernel_bursts, .rounds = 1};
  const timing_floor floor = timing_floor_of(&nothing, &kernel);
  cr_expect(floor.nothing == 2 && floor.empty_kernel == 5 && floor.empty_kernel_graph == 3);
}

// On a GPU: kernels that spin for a known time are measured as taking that time. What may be added is
// the gap between the event and the kernel on both sides, a few microseconds; the timer that the kernels
// read may step by one microsecond. The host's part of a launch must not show.
#define _GNU_SOURCE
#include "known_duration.h"
#include "timing/figures.h"
#include <criterion/criterion.h>
#include <math.h>
#include <time.h>

enum { CONTENDERS = 4 };
static const double most_early = 2, most_late = 8; // microseconds

static timing_burst bursts[CONTENDERS][TIMING_MOST_ROUNDS];

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation;
  return spin(*(const unsigned *)context, stream);
}

Test(known_duration, a_kernel_takes_as_long_as_it_takes) {
  unsigned microseconds[CONTENDERS] = {20, 100, 1000, 5000};
  timing_contender contenders[CONTENDERS];
  for (int i = 0; i < CONTENDERS; i++) {
    contenders[i] = (timing_contender){"spin", launch, &microseconds[i], bursts[i], 0, NULL, true};
  }
  const timing_plan plan = timing_default_plan();
  error_text error;
  cr_assert(timing_run(&plan, contenders, CONTENDERS, NULL, &error), "%s", error.text);
  for (int i = 0; i < CONTENDERS; i++) {
    const timing_figures figures = timing_figure(&contenders[i]);
    const double median = 1e3 * figures.times.median;
    cr_expect(median > microseconds[i] - most_early && median < microseconds[i] + most_late,
              "a kernel of %u us is measured as %.2f us", microseconds[i], median);
    cr_expect(figures.times.low <= figures.times.median && figures.sm_clock_mhz > 0,
              "NVML tells no clock");
  }
  // Replayed in a graph, without the host's part: the shortest alone.
  const double replayed = 1e3 * timing_figure(&contenders[0]).graph.median;
  cr_expect(replayed > 20 - most_early && replayed < 20 + most_late, "%.2f us in a graph",
            replayed);
  cr_expect_eq(timing_figure(&contenders[2]).graph.runs, 0);
}

// The budget is what the launches themselves took, and a burst that would go beyond it is not begun. So the last
// burst fits, and one more would not. How many fit is not asked for: a launch that another program holds up takes
// longer than the 6 ms of its kernel, and leaves room for fewer.
Test(known_duration, the_budget_is_in_seconds_of_the_gpu) {
  const double budget = 60; // milliseconds
  unsigned microseconds = 6000;
  timing_contender contender = {"spin", launch, &microseconds, bursts[0], 0, NULL, true};
  timing_plan plan = timing_default_plan();
  plan.seconds_most = 1e-3 * budget;
  error_text error;
  cr_assert(timing_run(&plan, &contender, 1, NULL, &error), "%s", error.text);
  cr_assert(contender.rounds >= 1);
  double used = 0;
  for (size_t round = 0; round < contender.rounds; round++) {
    const timing_burst *burst = &bursts[0][round];
    const double expected = round > 0 ? burst[-1].median * (double)burst->launches : 0;
    cr_expect(used + expected <= budget, "round %zu began after %.1f ms and took %.1f more", round,
              used, expected);
    for (size_t i = 0; i < burst->launches; i++) used += burst->milliseconds[i];
  }
  const double median = bursts[0][contender.rounds - 1].median;
  const double next = median * ceil(plan.burst_ms / median);
  cr_expect(used + next > budget, "%zu rounds took %.1f ms, and %.1f more would fit",
            contender.rounds, used, next);
}

// The host takes a millisecond for each launch: that is not in the time.
static cudaError_t launch_late(void *context, size_t rotation, cudaStream_t stream) {
  struct timespec now, begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 1000000);
  return launch(context, rotation, stream);
}

static cudaError_t launch_waiting(void *context, size_t rotation, cudaStream_t stream) {
  const cudaError_t status = launch(context, rotation, stream);
  return status != cudaSuccess ? status : cudaStreamSynchronize(stream);
}

Test(known_duration, the_hosts_time_is_not_the_kernels) {
  unsigned microseconds = 100;
  timing_contender both[2] = {{"late", launch_late, &microseconds, bursts[0], 0, NULL, true},
                              {"waits", launch_waiting, &microseconds, bursts[1], 0, NULL, true}};
  timing_plan plan = timing_default_plan();
  plan.rounds_least = plan.rounds_most = 5;
  error_text error;
  cr_assert(timing_run(&plan, both, 2, NULL, &error), "%s", error.text);
  const double median = 1e3 * timing_figure(&both[0]).times.median;
  cr_expect(median > 100 - most_early && median < 100 + most_late, "%.2f us", median);
  cr_expect(both[1].failure && both[1].rounds == 0, "a launch that waits was timed");
}

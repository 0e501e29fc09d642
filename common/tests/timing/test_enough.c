// When a contender has enough rounds: by hand, on times that differ from round to round.
#include "fake_clock.h"
#include "timing/event_clock.h"
#include <time.h>

// The launch that warms up takes as long as the first round. Each round has one launch.
static double times[TIMING_MOST_ROUNDS];

static cudaError_t launch_of_round(void *context, size_t rotation, cudaStream_t stream) {
  (void)context, (void)rotation, (void)stream;
  now += times[launches > 0 ? launches - 1 : 0];
  launches++;
  return cudaSuccess;
}

static size_t rounds_of(size_t least) {
  timing_contender one = {.name = "x", .launch = launch_of_round, .bursts = bursts[0]};
  timing_plan plan = small_plan();
  error_text error;
  plan.rounds_least = least;
  plan.burst_ms = 0;
  plan.warm_up = 1;
  launches = 0;
  cr_assert(timing_run(&plan, &one, 1, stream_given, &error), "%s", error.text);
  cr_assert_eq(launches, 1 + one.rounds);
  return one.rounds;
}

// Half the rounds are longer by 0.8 % or 1.2 %. That is the interval, and its half is what the plan compares with 0.5 %.
Test(enough, by_half_of_the_interval) {
  for (size_t i = 0; i < TIMING_MOST_ROUNDS; i++) times[i] = i % 2 ? 1.008 : 1;
  cr_expect_eq(rounds_of(10), 10);
  for (size_t i = 0; i < TIMING_MOST_ROUNDS; i++) times[i] = i % 2 ? 1.012 : 1;
  cr_expect_eq(rounds_of(10), TIMING_MOST_ROUNDS);
}

// Five rounds have the first interval, so that the ninth is the fifth one with a narrow interval.
Test(enough, after_five_narrow_rounds) {
  for (size_t i = 0; i < TIMING_MOST_ROUNDS; i++) times[i] = 1;
  cr_expect_eq(rounds_of(5), 9);
}

// The seventh round makes the interval wide in two rounds. Those before it do not count any more.
Test(enough, after_five_narrow_rounds_in_a_row) {
  for (size_t i = 0; i < TIMING_MOST_ROUNDS; i++) times[i] = i == 6 ? 2 : 1;
  cr_expect_eq(rounds_of(5), 13);
}

static cudaError_t late_after_three_rounds(void *context, size_t rotation, cudaStream_t stream) {
  const contender *who = context;
  if (who->own_launches == 3) always_late = who->name;
  return take_note(context, rotation, stream);
}

// Times of a contender are no times of it, where it waits for the GPU later.
Test(enough, none_of_one_that_waits_for_the_gpu_later) {
  contender late = {'A', 0, 20, 0, 0};
  timing_contender one = {
      .name = "x", .launch = late_after_three_rounds, .context = &late, .bursts = bursts[0]};
  const timing_plan plan = small_plan();
  error_text error;
  cr_assert(timing_run(&plan, &one, 1, stream_given, &error), "%s", error.text);
  cr_expect_gt(launches, 4);
  cr_expect(one.rounds == 0 && one.failure);
}

Test(enough, a_rest_takes_its_time) {
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  event_rest(NULL, 0.03);
  clock_gettime(CLOCK_MONOTONIC, &after);
  const double seconds =
      (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
  cr_expect_geq(seconds, 0.03, "%g s", seconds);
}

// How often the interval of a contender holds the true time, when the noise decides how many rounds there are.
// Launches take the true time and normally distributed noise, on a fake clock.
#include "numeric/random.h"
#include "plain_clock.h"
#include "timing/figures.h"
#include <criterion/criterion.h>
#include <math.h>

static const double true_time = 20; // milliseconds, so that one launch fills a burst

static uint64_t random_state = 1;
static double noise; // standard deviation, as a part of the true time

// One of two independent normal numbers (Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958).
static double normal(void) {
  const double first = ((double)(random_next(&random_state) >> 11) + 0.5) * 0x1p-53;
  const double second = (double)(random_next(&random_state) >> 11) * 0x1p-53;
  return sqrt(-2 * log(first)) * cos(2 * acos(-1.0) * second);
}

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  (void)context, (void)rotation, (void)stream;
  now += true_time * (1 + noise * normal());
  return cudaSuccess;
}

Test(coverage, of_intervals_that_decide_when_it_is_enough) {
  enum { RUNS = 20000 };
  static const double noises[] = {0.003, 0.007, 0.01, 0.013};
  static timing_burst bursts[TIMING_MOST_ROUNDS];
  timing_plan plan = timing_default_plan();
  plan.clock = &plain_clock;
  plan.quiet = true;
  plan.warm_up = 1;
  plan.seconds_least = 1e9; // so that the noise alone decides
  plan.seconds_most = 0;
  for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
    int held = 0, fewest = TIMING_MOST_ROUNDS;
    noise = noises[i];
    for (int run = 0; run < RUNS; run++) {
      timing_contender contender = {"noisy", launch, NULL, bursts, 0, NULL, true};
      error_text error;
      now = 0;
      cr_assert(timing_run(&plan, &contender, 1, NULL, &error), "%s", error.text);
      const statistics_summary times = timing_figure(&contender).times;
      held += times.low <= true_time && true_time <= times.high;
      if ((int)contender.rounds < fewest) fewest = (int)contender.rounds;
    }
    const double part = (double)held / RUNS;
    cr_expect(part >= 0.93 && part <= 0.97, "noise %g: %.1f %% of the intervals hold the true time",
              noise, 100 * part);
    if (i == 0) cr_expect_eq(fewest, 10, "little noise needs %d rounds", fewest);
  }
}

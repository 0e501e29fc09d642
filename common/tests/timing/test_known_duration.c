// On a GPU: kernels that spin for a known time are measured as taking that time. What may be added is
// the gap between the event and the kernel on both sides, a few microseconds; the timer that the kernels
// read may step by one microsecond. The host's part of a launch must not show.
#include "known_duration.h"
#include "statistics/statistics.h"
#include "timing/timing.h"
#include <criterion/criterion.h>

enum { CONTENDERS = 4, SAMPLES = 50 };
static const double most_early = 2, most_late = 8; // microseconds

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation;
  return spin(*(const unsigned *)context, stream);
}

Test(known_duration, a_kernel_takes_as_long_as_it_takes) {
  unsigned microseconds[CONTENDERS] = {20, 100, 1000, 5000};
  double times[CONTENDERS][SAMPLES];
  timing_contender contenders[CONTENDERS];
  for (int i = 0; i < CONTENDERS; i++) {
    contenders[i] = (timing_contender){"spin", launch, &microseconds[i], times[i], 0};
  }
  timing_plan plan = timing_default_plan();
  plan.samples = SAMPLES;
  error_text error;
  cr_assert(timing_run(&plan, contenders, CONTENDERS, NULL, &error), "%s", error.text);
  for (int i = 0; i < CONTENDERS; i++) {
    const double median = 1e3 * statistics_median(times[i], contenders[i].taken);
    cr_expect(median > microseconds[i] - most_early && median < microseconds[i] + most_late,
              "a kernel of %u us is measured as %.2f us", microseconds[i], median);
  }
}

// 5 ms a launch, 50 ms for the samples: 10 of them.
Test(known_duration, the_budget_is_in_seconds_of_the_gpu) {
  unsigned microseconds = 5000;
  double times[100];
  timing_contender contender = {"spin", launch, &microseconds, times, 0};
  timing_plan plan = timing_default_plan();
  plan.seconds = 0.05;
  error_text error;
  cr_assert(timing_run(&plan, &contender, 1, NULL, &error), "%s", error.text);
  cr_expect(contender.taken >= 9 && contender.taken <= 11, "%zu samples", contender.taken);
}

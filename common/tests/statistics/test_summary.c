// The median and its interval are those of the runs, and the percentiles those of all samples. Records and charts show them.
#include "statistics/summary.h"

#include <criterion/criterion.h>
#include <math.h>

// The samples are other numbers than the medians, so that neither can stand for the other.
Test(summary, what_comes_from_runs_and_what_from_samples) {
  enum { RUNS = 5, SAMPLES = 101 };
  static const double medians[RUNS] = {14, 11, 15, 12, 13};
  double samples[SAMPLES];
  for (size_t i = 0; i < SAMPLES; i++) samples[i] = 1000 + (double)(i * 37 % SAMPLES);
  const statistics_summary all = statistics_summarise(medians, RUNS, samples, SAMPLES);
  cr_expect(all.runs == 5 && all.samples == 101);
  cr_expect_eq(all.median, 13);
  cr_expect(all.low == 11 && all.high == 15, "%g to %g", all.low, all.high);
  cr_expect(all.p5 == 1005 && all.p95 == 1095, "%g to %g", all.p5, all.p95);
  const statistics_summary few = statistics_summarise(medians, RUNS - 1, samples, 1);
  cr_expect(few.median == 13 && isnan(few.low) && isnan(few.high) && few.p5 == 1000);
  const statistics_summary none = statistics_summarise(NULL, 0, NULL, 0);
  cr_expect(none.runs == 0 && none.samples == 0 && isnan(none.median) && isnan(none.p5));
}

#include "statistics/summary.h"

statistics_summary statistics_summarise(const double *samples, size_t count) {
  const uint64_t seed = 1; // the same samples give the same interval
  const statistics_interval interval = statistics_bootstrap_median(samples, count, seed);
  return (statistics_summary){
      .samples = count,
      .median = statistics_median(samples, count),
      .low = interval.low,
      .high = interval.high,
      .p5 = statistics_percentile(samples, count, 5),
      .p95 = statistics_percentile(samples, count, 95),
  };
}

#include "statistics/summary.h"

statistics_summary statistics_summarise(const double *medians, size_t runs, const double *samples,
                                        size_t count) {
  const statistics_interval interval = statistics_median_interval(medians, runs);
  return (statistics_summary){
      .runs = runs,
      .samples = count,
      .median = statistics_median(medians, runs),
      .low = interval.low,
      .high = interval.high,
      .p5 = statistics_percentile(samples, count, 5),
      .p95 = statistics_percentile(samples, count, 95),
  };
}

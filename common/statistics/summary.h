// Summarises repeated measurements in a few numbers.
#ifndef SUMMARY_H
#define SUMMARY_H

#include "statistics/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t runs;      // 0 when nothing was measured
  size_t samples;   // of all runs
  double median;    // of the runs' medians
  double low, high; // its 95 % interval, from the runs; NaN when they are fewer than five
  double p5, p95;   // 5th and 95th percentile of all samples
} statistics_summary;

// Returns the summary. `medians` [runs] holds the medians of the runs, `samples` [count] the samples of all runs, in
// the same unit. The figures that cannot be computed are NaN.
statistics_summary statistics_summarise(const double *medians, size_t runs, const double *samples,
                                        size_t count);

#ifdef __cplusplus
}
#endif

#endif

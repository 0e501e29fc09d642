// Repeated measurements in a few numbers.
#ifndef SUMMARY_H
#define SUMMARY_H

#include "statistics/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t samples; // 0 when nothing was measured
  double median;
  double low, high; // 95 % bootstrap interval of the median; NaN when one sample gives none
  double p5, p95;   // 5th and 95th percentile
} statistics_summary;

// In the unit of the samples. The same samples give the same interval.
statistics_summary statistics_summarise(const double *samples, size_t count);

#ifdef __cplusplus
}
#endif

#endif

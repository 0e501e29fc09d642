// Statistics of repeated measurements: the median, its confidence interval, and the ratio of two medians.
// Nothing here assumes a normal distribution, because times have a long upper tail.
//
// The launches of one run follow each other within milliseconds, at one clock and one temperature, and
// are not independent. An interval computed from all of them would be far too narrow. So an interval is
// computed from runs, each of which counts as one number, the median of its launches (common/timing).
//
// Samples may come in any order and are not changed. Every function returns NaN when it cannot give an
// answer: without samples, with a NaN among them, or when memory runs out. The comment of each function names
// further cases.
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double low;
  double high;
} statistics_interval;

// Returns the value at `percent` (0 to 100, else NaN) of the sorted samples, interpolated linearly between
// neighbours. This is NumPy's default, definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical
// Packages", The American Statistician 50(4), 1996. A single sample is the result for every percentile.
double statistics_percentile(const double *samples, size_t count, double percent);

// Returns the 50th percentile.
double statistics_median(const double *samples, size_t count);

// Returns a 95 % confidence interval of the median of the distribution that the samples of independent runs
// come from, which may be any distribution. The method is the interpolated order statistics of Hettmansperger
// and Sheather, "Confidence Intervals Based on Interpolated Order Statistics", Statistics & Probability
// Letters 4(2), 1986. Five runs reach 93.75 % at most, which is the interval they get. Fewer runs, or more
// than STATISTICS_MOST_RUNS, give NaN.
enum { STATISTICS_LEAST_RUNS = 5, STATISTICS_MOST_RUNS = 1000 };
statistics_interval statistics_median_interval(const double *samples, size_t count);

typedef struct {
  double ratio;
  statistics_interval interval; // 95 %, NaN with fewer runs than STATISTICS_LEAST_RUNS
} statistics_ratio;

// Returns how many times larger a is than b, where a[i] and b[i] were taken in the same round. This is the
// median of the ratios a[i] / b[i], in which influences that slow both down cancel. The values are times and
// must be positive; another value gives NaN.
statistics_ratio statistics_paired_ratio(const double *a, const double *b, size_t count);

// Does the same for runs that were not taken in the same rounds, by the ratio of the medians. The interval is
// computed from those of the two medians (method of variance estimates recovery: Zou and Donner,
// "Construction of Confidence Limits about Effect Measures", Statistics in Medicine 27(10), 2008).
statistics_ratio statistics_ratio_of_medians(const double *a, size_t a_count, const double *b,
                                             size_t b_count);

// Returns how far the samples lie from their median, as 1.4826 times the median distance. For a normal
// distribution this is the standard deviation, and a few samples that lie far away hardly change it.
double statistics_spread(const double *samples, size_t count);

#ifdef __cplusplus
}
#endif

#endif

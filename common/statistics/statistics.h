// What the lab says about repeated measurements: where their middle is, how sure that is, and how many
// times larger one is than another. Nothing here assumes a normal distribution: times have a long upper
// tail.
//
// The launches of one run follow each other within milliseconds, at one clock and one temperature, and
// are not independent: an interval from all of them is far too narrow. So an interval is made of runs,
// each of which is one number, the median of its launches (common/timing).
//
// Samples come in any order and are left as they are. Every function answers NaN where there is no
// answer: without samples, with a NaN among them, or out of memory; further cases are at the
// function.
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

// The value at `percent` (0 to 100, else NaN) of the sorted samples, interpolated linearly between
// neighbours: NumPy's default, definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical
// Packages", The American Statistician 50(4), 1996. One sample is all its percentiles.
double statistics_percentile(const double *samples, size_t count, double percent);

// The 50th percentile.
double statistics_median(const double *samples, size_t count);

// A 95 % confidence interval of the median that `samples` of independent runs come from, whatever their
// distribution: the interpolated order statistics of Hettmansperger and Sheather, "Confidence Intervals
// Based on Interpolated Order Statistics", Statistics & Probability Letters 4(2), 1986. Five runs reach
// 93.75 % at most, which is their interval; fewer have none, and neither have more than
// STATISTICS_MOST_RUNS: NaN.
enum { STATISTICS_LEAST_RUNS = 5, STATISTICS_MOST_RUNS = 1000 };
statistics_interval statistics_median_interval(const double *samples, size_t count);

typedef struct {
  double ratio;
  statistics_interval interval; // 95 %, NaN with fewer runs than STATISTICS_LEAST_RUNS
} statistics_ratio;

// How many times larger a is than b, where a[i] and b[i] were taken in the same round: the median of the
// ratios, in which cancels what slows both down. For times, which are positive: one that is not gives NaN.
statistics_ratio statistics_paired_ratio(const double *a, const double *b, size_t count);

// The same for runs that do not belong together: the ratio of the medians. The interval joins those of
// the two medians (method of variance estimates recovery: Zou and Donner, "Construction of Confidence
// Limits about Effect Measures", Statistics in Medicine 27(10), 2008).
statistics_ratio statistics_ratio_of_medians(const double *a, size_t a_count, const double *b,
                                             size_t b_count);

// How far the samples lie from their median: 1.4826 times the median distance, which is the standard
// deviation where they are normal, and hardly moves when a few of them are far away.
double statistics_spread(const double *samples, size_t count);

#ifdef __cplusplus
}
#endif

#endif

// What the lab says about repeated measurements: where their middle is, how sure that is, and
// whether two runs differ. Nothing here assumes a normal distribution: times have a hard lower
// end and a long upper tail.
//
// Samples come in any order and are left as they are. Every function answers NaN where there is no
// answer: without samples, with a NaN among them, or out of memory; further cases are at the
// function.
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

// A 95 % confidence interval of the median: the percentile bootstrap of Efron and Tibshirani, "An
// Introduction to the Bootstrap", 1993, chapter 13, with 2000 resamples. The same samples (in any
// order) and seed give the same interval. Fewer than two samples have none: NaN.
statistics_interval statistics_bootstrap_median(const double *samples, size_t count, uint64_t seed);

typedef struct {
  double u;   // pairs (a, b) with a > b, ties counting one half: 0 to a_count * b_count
  double p;   // two-sided: how often runs without any difference would look this different or more
  bool exact; // p is from the distribution of U itself, not from its normal approximation
} statistics_rank_test;

// The rank test of Mann and Whitney, "On a Test of Whether one of Two Random Variables is
// Stochastically Larger than the Other", Annals of Mathematical Statistics 18(1), 1947. Exact for
// up to 20 samples a side without ties; else the normal approximation with the corrections for ties
// and continuity of Lehmann, "Nonparametrics", 1975, chapter 1. All samples equal: p = 1.
statistics_rank_test statistics_mann_whitney(const double *a, size_t a_count, const double *b,
                                             size_t b_count);

// Cliff's delta, -1 to 1: the share of pairs with a > b less the share with a < b. Cliff,
// "Dominance Statistics", Psychological Bulletin 114(3), 1993.
double statistics_cliffs_delta(const double *a, size_t a_count, const double *b, size_t b_count);

// The size of a delta in a word, by the thresholds of Romano, Kromrey, Coraggio and Skowronek,
// "Appropriate statistics for ordinal level data", Florida Association of Institutional Research,
// 2006: "negligible" below 0.147, "small" below 0.33, "medium" below 0.474, else "large";
// "undefined" for NaN. The sign does not matter.
const char *statistics_cliffs_delta_size(double delta);

// Adjusts p values, in place, for having been taken together: those that stay below alpha are
// discoveries of which a share of at most alpha is expected to be false, and where there is nothing to
// discover, one turns up with a probability of at most alpha. Benjamini and Hochberg, "Controlling the
// False Discovery Rate", Journal of the Royal Statistical Society B 57(1), 1995; for independent tests,
// and for tests that lean the same way (Benjamini and Yekutieli, Annals of Statistics 29(4), 2001). A p
// that is not within 0 to 1 makes all of them NaN.
void statistics_adjust_p(double *p, size_t count);

typedef struct {
  double ratio;                 // median(a) / median(b)
  statistics_interval interval; // 95 %, NaN when a side has fewer than two samples
} statistics_ratio;

// How many times larger a's median is than b's, with a bootstrap interval in which the two sides
// are resampled apart. For times, which are positive: a sample that is not gives NaN.
statistics_ratio statistics_ratio_of_medians(const double *a, size_t a_count, const double *b,
                                             size_t b_count, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif

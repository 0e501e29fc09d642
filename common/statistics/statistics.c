#include "statistics/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

// Returns the samples in ascending order, which the caller frees, or NULL when no statistic of them exists.
static double *sorted_copy(const double *samples, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (isnan(samples[i])) return NULL;
  }
  double *sorted = count ? malloc(count * sizeof *sorted) : NULL;
  if (!sorted) return NULL;
  memcpy(sorted, samples, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_doubles);
  return sorted;
}

static double percentile_of_sorted(const double *sorted, size_t count, double percent) {
  const double position = (double)(count - 1) * percent / 100;
  const size_t below = (size_t)position;
  const size_t above = below + 1 < count ? below + 1 : below;
  const double fraction = position - (double)below;
  // Equal neighbours are handled first, because the difference of two infinities is NaN.
  if (fraction == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double statistics_percentile(const double *samples, size_t count, double percent) {
  if (!(percent >= 0 && percent <= 100)) return NAN;
  double *sorted = sorted_copy(samples, count);
  if (!sorted) return NAN;
  const double value = percentile_of_sorted(sorted, count, percent);
  free(sorted);
  return value;
}

double statistics_median(const double *samples, size_t count) {
  return statistics_percentile(samples, count, 50);
}

// --- the interval of a median

// Returns the probability that fewer than `below` of `count` tosses of a coin show heads, P(Bin(count, 1/2) <
// below).
static double heads_below(size_t count, size_t below) {
  double term = exp2(-(double)count);
  double sum = 0;
  for (size_t k = 0; k < below; k++) {
    sum += term;
    term *= (double)(count - k) / (double)(k + 1);
  }
  return sum;
}

// Returns the probability that the interval from the d-th smallest to the d-th largest sample holds the
// median.
static double coverage(size_t count, size_t d) { return 1 - 2 * heads_below(count, d); }

statistics_interval statistics_median_interval(const double *samples, size_t count) {
  const double wanted = 0.95;
  statistics_interval interval = {NAN, NAN};
  if (count < STATISTICS_LEAST_RUNS || count > STATISTICS_MOST_RUNS) return interval;
  double *sorted = sorted_copy(samples, count);
  if (!sorted) return interval;
  size_t d = 1;
  while (2 * (d + 1) <= count && coverage(count, d + 1) >= wanted) d++;
  // The ends lie between the d-th samples, which are too far apart, and the next ones, which are too near.
  const double outer = coverage(count, d);
  double part = 0;
  if (outer > wanted && 2 * (d + 1) <= count + 1) {
    const double share = (outer - wanted) / (outer - coverage(count, d + 1));
    const double n = (double)count;
    part = (n - (double)d) * share / ((double)d + (n - 2 * (double)d) * share);
  }
  interval.low = sorted[d - 1] + part * (sorted[d] - sorted[d - 1]);
  interval.high = sorted[count - d] - part * (sorted[count - d] - sorted[count - d - 1]);
  free(sorted);
  return interval;
}

statistics_ratio statistics_paired_ratio(const double *a, const double *b, size_t count) {
  statistics_ratio result = {NAN, {NAN, NAN}};
  double *ratios = count ? malloc(count * sizeof *ratios) : NULL;
  bool good = ratios != NULL;
  for (size_t i = 0; i < count && good; i++) {
    good = a[i] > 0 && b[i] > 0;
    ratios[i] = a[i] / b[i];
  }
  if (good) {
    result.ratio = statistics_median(ratios, count);
    result.interval = statistics_median_interval(ratios, count);
  }
  free(ratios);
  return result;
}

statistics_ratio statistics_ratio_of_medians(const double *a, size_t a_count, const double *b,
                                             size_t b_count) {
  const double a_median = statistics_median(a, a_count);
  const double b_median = statistics_median(b, b_count);
  const statistics_interval a_interval = statistics_median_interval(a, a_count);
  const statistics_interval b_interval = statistics_median_interval(b, b_count);
  statistics_ratio result = {NAN, {NAN, NAN}};
  if (!(a_median > 0 && b_median > 0 && statistics_percentile(a, a_count, 0) > 0 &&
        statistics_percentile(b, b_count, 0) > 0)) {
    return result;
  }
  result.ratio = a_median / b_median;
  // The interval is computed from logarithms, so that the inverse of the ratio has the inverse interval.
  const double below = hypot(log(a_median / a_interval.low), log(b_interval.high / b_median));
  const double above = hypot(log(a_interval.high / a_median), log(b_median / b_interval.low));
  result.interval = (statistics_interval){result.ratio * exp(-below), result.ratio * exp(above)};
  return result;
}

double statistics_spread(const double *samples, size_t count) {
  const double middle = statistics_median(samples, count);
  double *distances = count ? malloc(count * sizeof *distances) : NULL;
  if (!distances) return NAN;
  for (size_t i = 0; i < count; i++) distances[i] = fabs(samples[i] - middle);
  const double spread = 1.4826 * statistics_median(distances, count);
  free(distances);
  return spread;
}

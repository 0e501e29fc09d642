#include "statistics/statistics.h"

#include "numeric/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000, EXACT_LIMIT = 20 };

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

// The samples in ascending order, for the caller to free; NULL where nothing can be said of them.
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
  // Equal neighbours come first: between two infinities there is no difference to interpolate.
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

// --- bootstrap

// The median of `count` draws with replacement from the sorted samples. As they are sorted, it is
// enough to count how often each is drawn: `drawn[count]` is the caller's scratch for that.
static double resampled_median(const double *sorted, size_t count, uint32_t *drawn,
                               uint64_t *random) {
  memset(drawn, 0, count * sizeof *drawn);
  for (size_t i = 0; i < count; i++) drawn[(random_next(random) >> 32) * count >> 32]++;
  // The draws of ranks (count - 1) / 2 and count / 2 are the middle one, twice, or the middle two.
  size_t i = 0;
  size_t seen = drawn[0];
  while (seen <= (count - 1) / 2) seen += drawn[++i];
  const double lower = sorted[i];
  while (seen <= count / 2) seen += drawn[++i];
  return (lower + sorted[i]) / 2;
}

static statistics_interval middle_95_percent(double *values) {
  qsort(values, RESAMPLES, sizeof *values, compare_doubles);
  return (statistics_interval){percentile_of_sorted(values, RESAMPLES, 2.5),
                               percentile_of_sorted(values, RESAMPLES, 97.5)};
}

statistics_interval statistics_bootstrap_median(const double *samples, size_t count,
                                                uint64_t seed) {
  statistics_interval interval = {NAN, NAN};
  if (count < 2) return interval;
  double *sorted = sorted_copy(samples, count);
  uint32_t *drawn = malloc(count * sizeof *drawn);
  if (sorted && drawn) {
    double medians[RESAMPLES];
    for (size_t i = 0; i < RESAMPLES; i++) {
      medians[i] = resampled_median(sorted, count, drawn, &seed);
    }
    interval = middle_95_percent(medians);
  }
  free(sorted);
  free(drawn);
  return interval;
}

statistics_ratio statistics_ratio_of_medians(const double *a, size_t a_count, const double *b,
                                             size_t b_count, uint64_t seed) {
  statistics_ratio result = {NAN, {NAN, NAN}};
  double *a_sorted = sorted_copy(a, a_count);
  double *b_sorted = sorted_copy(b, b_count);
  const size_t most = a_count > b_count ? a_count : b_count;
  uint32_t *drawn = most ? malloc(most * sizeof *drawn) : NULL;
  if (a_sorted && b_sorted && drawn && a_sorted[0] > 0 && b_sorted[0] > 0) {
    result.ratio =
        percentile_of_sorted(a_sorted, a_count, 50) / percentile_of_sorted(b_sorted, b_count, 50);
    if (a_count > 1 && b_count > 1) {
      double ratios[RESAMPLES];
      for (size_t i = 0; i < RESAMPLES; i++) {
        const double numerator = resampled_median(a_sorted, a_count, drawn, &seed);
        ratios[i] = numerator / resampled_median(b_sorted, b_count, drawn, &seed);
      }
      result.interval = middle_95_percent(ratios);
    }
  }
  free(a_sorted);
  free(b_sorted);
  free(drawn);
  return result;
}

// --- two runs

typedef struct {
  double u;
  double ties; // sum of t^3 - t over the groups of t equal samples; 0 without ties
} rank_sums;

// Walks both sorted runs together, one value at a time: U counts, for each a, the b below it, and
// half of the b equal to it. NaN in `u` where nothing can be said.
static rank_sums compare_ranks(const double *a, size_t a_count, const double *b, size_t b_count) {
  rank_sums sums = {NAN, 0};
  double *a_sorted = sorted_copy(a, a_count);
  double *b_sorted = sorted_copy(b, b_count);
  if (a_sorted && b_sorted) {
    sums.u = 0;
    for (size_t i = 0, j = 0; i < a_count || j < b_count;) {
      const bool a_is_next = j == b_count || (i < a_count && a_sorted[i] <= b_sorted[j]);
      const double value = a_is_next ? a_sorted[i] : b_sorted[j];
      const double b_below = (double)j;
      double a_equal = 0;
      double b_equal = 0;
      for (; i < a_count && a_sorted[i] == value; i++) a_equal++;
      for (; j < b_count && b_sorted[j] == value; j++) b_equal++;
      const double equal = a_equal + b_equal;
      sums.u += a_equal * (b_below + b_equal / 2);
      sums.ties += equal * equal * equal - equal;
    }
  }
  free(a_sorted);
  free(b_sorted);
  return sums;
}

// P(U >= u) without ties, u a whole number. The number of arrangements with U = k is the
// coefficient of q^k in the Gaussian binomial, product over i = 1..m of
// (1 - q^(n + i)) / (1 - q^i); for m, n <= 20 every number on the way is a whole one below 2^53.
static double exact_tail(size_t m, size_t n, double u) {
  double ways[EXACT_LIMIT * EXACT_LIMIT + 1] = {1};
  const size_t last = m * n;
  for (size_t i = 1; i <= m; i++) {
    for (size_t k = last; k >= n + i; k--) ways[k] -= ways[k - n - i];
    for (size_t k = i; k <= last; k++) ways[k] += ways[k - i];
  }
  double tail = 0;
  double all = 0;
  for (size_t k = 0; k <= last; k++) {
    all += ways[k];
    if ((double)k >= u) tail += ways[k];
  }
  return tail / all;
}

// P(U >= u) by the normal distribution with U's mean and variance; u is at least the mean.
static double normal_tail(double m, double n, double ties, double u) {
  const double all = m + n;
  const double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  if (!(variance > 0)) return 1;
  // U moves in steps of one, so what belongs to u begins half a step before it.
  const double z = (u - m * n / 2 - 0.5) / sqrt(variance);
  return erfc(z / sqrt(2)) / 2;
}

statistics_rank_test statistics_mann_whitney(const double *a, size_t a_count, const double *b,
                                             size_t b_count) {
  statistics_rank_test test = {NAN, NAN, false};
  const rank_sums sums = compare_ranks(a, a_count, b, b_count);
  if (isnan(sums.u)) return test;
  const double pairs = (double)a_count * (double)b_count;
  const double far = fmax(sums.u, pairs - sums.u);
  test.u = sums.u;
  test.exact = sums.ties == 0 && a_count <= EXACT_LIMIT && b_count <= EXACT_LIMIT;
  const double tail = test.exact ? exact_tail(a_count, b_count, far)
                                 : normal_tail((double)a_count, (double)b_count, sums.ties, far);
  test.p = fmin(1, 2 * tail);
  return test;
}

double statistics_cliffs_delta(const double *a, size_t a_count, const double *b, size_t b_count) {
  // With a tie counted on neither side instead of half on both, U turns into delta.
  const double pairs = (double)a_count * (double)b_count;
  return 2 * compare_ranks(a, a_count, b, b_count).u / pairs - 1;
}

const char *statistics_cliffs_delta_size(double delta) {
  if (isnan(delta)) return "undefined";
  if (fabs(delta) < 0.147) return "negligible";
  if (fabs(delta) < 0.33) return "small";
  if (fabs(delta) < 0.474) return "medium";
  return "large";
}

// --- many comparisons

static int compare_pointed_doubles(const void *left, const void *right) {
  return compare_doubles(*(double *const *)left, *(double *const *)right);
}

void statistics_adjust_p(double *p, size_t count) {
  double **ascending = count ? malloc(count * sizeof *ascending) : NULL;
  bool good = ascending != NULL;
  for (size_t i = 0; i < count && good; i++) {
    ascending[i] = &p[i];
    good = p[i] >= 0 && p[i] <= 1;
  }
  if (good) {
    qsort(ascending, count, sizeof *ascending, compare_pointed_doubles);
    // From the largest down, as no adjusted p may exceed that of a larger one.
    double least = 1;
    for (size_t rank = count; rank > 0; rank--) {
      least = fmin(least, *ascending[rank - 1] * (double)count / (double)rank);
      *ascending[rank - 1] = least;
    }
  } else {
    for (size_t i = 0; i < count; i++) p[i] = NAN;
  }
  free(ascending);
}

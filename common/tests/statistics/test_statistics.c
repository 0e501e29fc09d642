// The reference values were printed by SciPy 1.17.1 and NumPy 2.4.6 (pip install scipy==1.17.1
// numpy==2.4.6), with the call that is named at each table.
#include "statistics/statistics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MOST = 40 };

typedef struct {
  size_t count;
  double values[MOST];
} sample_set;

// first, first + 1, ..., first + count - 1
static sample_set ramp(size_t count, double first) {
  sample_set samples = {.count = count};
  for (size_t i = 0; i < count; i++) samples.values[i] = first + (double)i;
  return samples;
}

static bool close_to(double got, double expected, double relative) {
  return fabs(got - expected) <= relative * fabs(expected);
}

// Uniform in (0, 1); the generator of Numerical Recipes, unlike the one under test.
static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

// numpy.percentile(samples, [0, 5, 25, 50, 90, 95, 100])
Test(statistics, percentiles_are_numpys) {
  static const double percents[] = {0, 5, 25, 50, 90, 95, 100};
  static const struct {
    const char *name;
    sample_set samples;
    double expected[LENGTH(percents)];
  } cases[] = {
      {"seven", {7, {7.5, 1.25, 3, 9, 2, 8, 4.5}}, {1.25, 1.475, 2.5, 4.5, 8.4, 8.7, 9}},
      {"even", {4, {4, 1, 3, 2}}, {1, 1.15, 1.75, 2.5, 3.7, 3.85, 4}},
      {"outlier", {5, {1.0, 1.1, 1.2, 1.3, 1000}}, {1, 1.02, 1.1, 1.2, 600.52, 800.26, 1000}},
      {"one", {1, {42.5}}, {42.5, 42.5, 42.5, 42.5, 42.5, 42.5, 42.5}},
      {"ties", {6, {5, 5, 5, 1, 9, 5}}, {1, 2, 5, 5, 7, 8, 9}},
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const sample_set *samples = &cases[i].samples;
    for (size_t k = 0; k < LENGTH(percents); k++) {
      const double got = statistics_percentile(samples->values, samples->count, percents[k]);
      cr_assert(close_to(got, cases[i].expected[k], 1e-14), "%s, %g %%: %.17g instead of %.17g",
                cases[i].name, percents[k], got, cases[i].expected[k]);
    }
    cr_assert_eq(statistics_median(samples->values, samples->count),
                 statistics_percentile(samples->values, samples->count, 50), "%s", cases[i].name);
  }
}

Test(statistics, samples_are_not_changed) {
  double samples[] = {3, 1, 2};
  statistics_percentile(samples, 3, 50);
  statistics_bootstrap_median(samples, 3, 1);
  statistics_mann_whitney(samples, 3, samples, 3);
  statistics_ratio_of_medians(samples, 3, samples, 3, 1);
  cr_assert(samples[0] == 3 && samples[1] == 1 && samples[2] == 2);
}

Test(statistics, no_answer_is_nan) {
  const double good[] = {1, 2, 3};
  const double spoilt[] = {1, NAN, 3};
  const double zero[] = {0, 1, 2};
  cr_expect(isnan(statistics_median(NULL, 0)));
  cr_expect(isnan(statistics_median(spoilt, 3)));
  cr_expect(isnan(statistics_percentile(good, 3, -0.1)));
  cr_expect(isnan(statistics_percentile(good, 3, 100.1)));
  cr_expect(isnan(statistics_percentile(good, 3, NAN)));
  for (size_t count = 0; count < 2; count++) {
    const statistics_interval interval = statistics_bootstrap_median(good, count, 1);
    cr_expect(isnan(interval.low) && isnan(interval.high), "%zu samples", count);
    const statistics_ratio ratio = statistics_ratio_of_medians(good, 3, good, count, 1);
    cr_expect(isnan(ratio.interval.low) && isnan(ratio.interval.high), "%zu samples", count);
    cr_expect(count ? ratio.ratio == 2 : isnan(ratio.ratio), "%zu samples", count);
  }
  cr_expect(isnan(statistics_bootstrap_median(spoilt, 3, 1).low));
  cr_expect(isnan(statistics_mann_whitney(good, 3, NULL, 0).p));
  cr_expect(isnan(statistics_mann_whitney(NULL, 0, good, 3).u));
  cr_expect(isnan(statistics_mann_whitney(good, 3, spoilt, 3).p));
  cr_expect(isnan(statistics_cliffs_delta(good, 3, NULL, 0)));
  cr_expect(isnan(statistics_cliffs_delta(spoilt, 3, good, 3)));
  cr_expect(isnan(statistics_ratio_of_medians(good, 3, zero, 3, 1).ratio));
  cr_expect(isnan(statistics_ratio_of_medians(zero, 3, good, 3, 1).interval.high));
}

// Of an odd number of samples, the bootstrap's distribution is known: the resampled median is at
// most the k-th smallest sample with probability scipy.stats.binom.sf((n + 1) / 2 - 1, n, k / n)
// (Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7(1), 1979,
// section 3). For these n the 2.5 and 97.5 % points of 2000 resamples are certain up to 3 sigma.
Test(statistics, bootstrap_is_the_distribution_of_the_resampled_median) {
  static const struct {
    size_t count;
    double low, high;
  } cases[] = {{5, 1, 5}, {11, 3, 9}, {17, 5, 13}, {19, 6, 14}, {27, 9, 19}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const sample_set samples = ramp(cases[i].count, 1);
    const statistics_interval got = statistics_bootstrap_median(samples.values, samples.count, 7);
    cr_assert(got.low == cases[i].low && got.high == cases[i].high,
              "%zu samples: %g to %g instead of %g to %g", samples.count, got.low, got.high,
              cases[i].low, cases[i].high);
  }
}

Test(statistics, bootstrap_depends_on_samples_and_seed_alone) {
  double samples[30];
  uint64_t state = 5;
  for (size_t i = 0; i < 30; i++) samples[i] = uniform(&state);
  const statistics_interval first = statistics_bootstrap_median(samples, 30, 11);
  for (size_t i = 0; i < 15; i++) {
    const double swapped = samples[i];
    samples[i] = samples[29 - i];
    samples[29 - i] = swapped;
  }
  const statistics_interval again = statistics_bootstrap_median(samples, 30, 11);
  cr_assert(first.low == again.low && first.high == again.high);
  bool differs = false;
  for (uint64_t seed = 12; seed < 20; seed++) {
    differs |= statistics_bootstrap_median(samples, 30, seed).low != first.low;
  }
  cr_assert(differs, "the seed changes nothing");
}

// The true median of the exponential distribution with mean 1 is log 2. Of 400 intervals, 95 % +-
// 3 sigma of the binomial distribution should hold it: 367 to 393.
Test(statistics, bootstrap_covers_the_median) {
  int covered = 0;
  uint64_t state = 1;
  for (uint64_t trial = 0; trial < 400; trial++) {
    double samples[41];
    for (size_t i = 0; i < LENGTH(samples); i++) samples[i] = -log(uniform(&state));
    const statistics_interval got = statistics_bootstrap_median(samples, LENGTH(samples), trial);
    covered += got.low <= log(2) && log(2) <= got.high;
  }
  cr_assert(covered >= 367 && covered <= 393, "%d of 400 intervals hold the median", covered);
}

// scipy.stats.mannwhitneyu(a, b, alternative="two-sided", method="exact" or "asymptotic")
Test(statistics, mann_whitney_is_scipys) {
  const struct {
    const char *name;
    sample_set a, b;
    statistics_rank_test expected;
  } cases[] = {
      {"equal runs", ramp(5, 1), ramp(5, 1), {12.5, 1, false}},
      {"apart",
       {5, {1.1, 1.2, 1.3, 1.4, 1.5}},
       {5, {2.1, 2.2, 2.3, 2.4, 2.5}},
       {0, 0.007936507936507936, true}},
      {"interleaved", {6, {1, 3, 5, 7, 9, 11}}, {5, {2, 4, 6, 8, 10}}, {15, 1, true}},
      {"outlier",
       {5, {1.01, 1.03, 1.02, 1.05, 99}},
       {6, {1.11, 1.13, 1.12, 1.15, 1.14, 1.16}},
       {6, 0.12554112554112554, true}},
      {"one each", {1, {1}}, {1, {2}}, {0, 1, true}},
      {"one against five", {1, {10}}, ramp(5, 1), {5, 1 / 3.0, true}},
      {"all equal", {3, {3, 3, 3}}, {4, {3, 3, 3, 3}}, {6, 1, false}},
      {"ties",
       {7, {1, 2, 2, 3, 4, 4, 4}},
       {6, {2, 3, 4, 5, 5, 6}},
       {10, 0.12500621852933796, false}},
      {"twenty", ramp(20, 0), ramp(20, 7.5), {78, 0.0006675619675571311, true}},
      {"twenty-one", ramp(21, 0), ramp(20, 7.5), {91, 0.001996717274377958, false}},
      {"five against thirty",
       {5, {0.5, 1.5, 2.5, 3.5, 17.5}},
       ramp(30, 1),
       {23, 0.015193512163636253, false}},
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const sample_set *a = &cases[i].a;
    const sample_set *b = &cases[i].b;
    const statistics_rank_test *expected = &cases[i].expected;
    const statistics_rank_test got =
        statistics_mann_whitney(a->values, a->count, b->values, b->count);
    const statistics_rank_test swapped =
        statistics_mann_whitney(b->values, b->count, a->values, a->count);
    cr_expect_eq(got.u, expected->u, "%s: U is %g instead of %g", cases[i].name, got.u,
                 expected->u);
    cr_expect(close_to(got.p, expected->p, 1e-12), "%s: p is %.17g instead of %.17g", cases[i].name,
              got.p, expected->p);
    cr_expect_eq(got.exact, expected->exact, "%s: exact is %d", cases[i].name, got.exact);
    cr_expect(swapped.p == got.p && swapped.u == (double)(a->count * b->count) - got.u,
              "%s: p is %.17g and U %g with the runs swapped", cases[i].name, swapped.p, swapped.u);
  }
}

// Over all arrangements of 4 + 3 ranks: p is the share of those that are at least as far out.
Test(statistics, exact_p_is_a_count_of_arrangements) {
  int count = 0;
  double u[35], p[35];
  for (unsigned set = 0; set < 128; set++) {
    if (__builtin_popcount(set) != 4) continue;
    sample_set sides[2] = {0};
    for (unsigned rank = 0; rank < 7; rank++) {
      sample_set *side = &sides[set >> rank & 1];
      side->values[side->count++] = rank;
    }
    const statistics_rank_test test =
        statistics_mann_whitney(sides[1].values, 4, sides[0].values, 3);
    u[count] = test.u;
    p[count++] = test.p;
  }
  cr_assert_eq(count, 35);
  for (int i = 0; i < 35; i++) {
    int as_far = 0;
    for (int j = 0; j < 35; j++) as_far += fabs(u[j] - 6) >= fabs(u[i] - 6);
    cr_assert(close_to(p[i], as_far / 35.0, 1e-14), "U = %g: p is %.17g instead of %d/35", u[i],
              p[i], as_far);
  }
}

Test(statistics, cliffs_delta_counts_pairs) {
  uint64_t state = 3;
  for (int trial = 0; trial < 200; trial++) {
    sample_set a = {.count = 1 + (size_t)(uniform(&state) * 30)};
    sample_set b = {.count = 1 + (size_t)(uniform(&state) * 30)};
    // Few different values, so that there are ties within and across the runs.
    const double values = 2 + trial % 40;
    for (size_t i = 0; i < a.count; i++) a.values[i] = floor(uniform(&state) * values);
    for (size_t i = 0; i < b.count; i++) b.values[i] = floor(uniform(&state) * values) + trial % 3;
    double pairs = 0;
    for (size_t i = 0; i < a.count; i++) {
      for (size_t j = 0; j < b.count; j++) {
        pairs += (a.values[i] > b.values[j]) - (a.values[i] < b.values[j]);
      }
    }
    const double expected = pairs / (double)(a.count * b.count);
    const double got = statistics_cliffs_delta(a.values, a.count, b.values, b.count);
    cr_assert(fabs(got - expected) < 1e-14, "trial %d, %zu against %zu: %.17g instead of %.17g",
              trial, a.count, b.count, got, expected);
  }
}

Test(statistics, cliffs_delta_in_words) {
  static const struct {
    double delta;
    const char *size;
  } cases[] = {{0, "negligible"},   {0.1469, "negligible"}, {-0.1469, "negligible"},
               {0.147, "small"},    {-0.3299, "small"},     {0.33, "medium"},
               {-0.4739, "medium"}, {0.474, "large"},       {-1, "large"},
               {NAN, "undefined"}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const char *got = statistics_cliffs_delta_size(cases[i].delta);
    cr_assert(strcmp(got, cases[i].size) == 0, "%g is %s instead of %s", cases[i].delta, got,
              cases[i].size);
  }
}

// scipy.stats.false_discovery_control(p, method="bh")
Test(statistics, adjusted_p_is_scipys) {
  static const struct {
    sample_set p;
    double expected[6];
  } cases[] = {
      {{5, {0.01, 0.02, 0.03, 0.04, 0.05}}, {0.05, 0.05, 0.05, 0.05, 0.05}},
      {{6, {0.5, 0.001, 0.04, 0.04, 0.9, 0.02}}, {0.6, 0.006, 0.06, 0.06, 0.9, 0.06}},
      {{4, {0, 0.2, 0.01, 0.013}}, {0, 0.2, 0.017333333333333333, 0.017333333333333333}},
      {{3, {1, 1, 1}}, {1, 1, 1}},
      {{1, {0.03}}, {0.03}},
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    sample_set p = cases[i].p;
    statistics_adjust_p(p.values, p.count);
    for (size_t k = 0; k < p.count; k++) {
      cr_expect(close_to(p.values[k], cases[i].expected[k], 1e-14), "case %zu: %.17g instead of %g",
                i, p.values[k], cases[i].expected[k]);
    }
  }
  static const double spoilt[] = {NAN, -0.1, 1.1};
  for (size_t i = 0; i < LENGTH(spoilt); i++) {
    double p[] = {0.5, spoilt[i]};
    statistics_adjust_p(p, 2);
    cr_expect(isnan(p[0]) && isnan(p[1]), "%g", spoilt[i]);
  }
  statistics_adjust_p(NULL, 0);
}

Test(statistics, ratio_of_medians) {
  // With one side constant, the interval is that of the other side, scaled (n = 27 above).
  const sample_set varied = ramp(27, 1);
  const double constant[] = {2, 2, 2};
  statistics_ratio got = statistics_ratio_of_medians(varied.values, 27, constant, 3, 7);
  cr_expect(got.ratio == 7 && got.interval.low == 4.5 && got.interval.high == 9.5,
            "varied / constant: %g, %g to %g", got.ratio, got.interval.low, got.interval.high);
  got = statistics_ratio_of_medians(constant, 3, varied.values, 27, 7);
  cr_expect(got.ratio == 1 / 7.0 && got.interval.low == 2 / 19.0 && got.interval.high == 2 / 9.0,
            "constant / varied: %g, %g to %g", got.ratio, got.interval.low, got.interval.high);

  // With r(x) = numpy.median(numpy.random.default_rng(1).choice(x, (1000000, len(x))), axis=1):
  // numpy.percentile(r(a) / r(b), [2.5, 97.5]) is [1.3, 2.2]; 2000 resamples spread by 1 % of it.
  const sample_set a = ramp(21, 20);
  const sample_set b = ramp(17, 10);
  got = statistics_ratio_of_medians(a.values, a.count, b.values, b.count, 7);
  cr_expect(got.ratio == 30 / 18.0 && close_to(got.interval.low, 1.3, 0.03) &&
                close_to(got.interval.high, 2.2, 0.03),
            "both varied: %g, %g to %g", got.ratio, got.interval.low, got.interval.high);
  const statistics_ratio again =
      statistics_ratio_of_medians(a.values, a.count, b.values, b.count, 7);
  cr_expect(again.interval.low == got.interval.low && again.interval.high == got.interval.high);
}

// The reference values were printed by SciPy 1.17.1 and NumPy 2.4.6 (pip install scipy==1.17.1
// numpy==2.4.6), with the call that is named at each table.
#include "statistics/statistics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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
  const double endless[] = {1, INFINITY, INFINITY}; // whose difference is no number
  cr_expect_eq(statistics_percentile(endless, 3, 90), INFINITY);
}

Test(statistics, samples_are_not_changed) {
  double samples[] = {3, 1, 2, 5, 4};
  statistics_percentile(samples, 5, 50);
  statistics_median_interval(samples, 5);
  statistics_paired_ratio(samples, samples, 5);
  statistics_ratio_of_medians(samples, 5, samples, 5);
  statistics_spread(samples, 5);
  const double expected[] = {3, 1, 2, 5, 4};
  cr_assert(memcmp(samples, expected, sizeof samples) == 0);
}

Test(statistics, no_answer_is_nan) {
  const double good[] = {1, 2, 3, 4, 5};
  const double spoilt[] = {1, NAN, 3, 4, 5};
  const double zero[] = {0, 1, 2, 3, 4};
  cr_expect(isnan(statistics_median(NULL, 0)));
  cr_expect(isnan(statistics_median(spoilt, 3)));
  cr_expect(isnan(statistics_percentile(good, 3, -0.1)));
  cr_expect(isnan(statistics_percentile(good, 3, 100.1)));
  cr_expect(isnan(statistics_percentile(good, 3, NAN)));
  for (size_t count = 0; count < 5; count++) { // fewer than five runs say nothing of themselves
    const statistics_interval interval = statistics_median_interval(good, count);
    cr_expect(isnan(interval.low) && isnan(interval.high), "%zu runs", count);
    const statistics_ratio ratio = statistics_ratio_of_medians(good, 5, good, count);
    cr_expect(isnan(ratio.interval.low) && isnan(ratio.interval.high), "%zu runs", count);
    const statistics_ratio paired = statistics_paired_ratio(good, good, count);
    cr_expect(isnan(paired.interval.low) && isnan(paired.interval.high), "%zu runs", count);
    cr_expect(count ? paired.ratio == 1 : isnan(paired.ratio), "%zu runs", count);
  }
  cr_expect(isnan(statistics_median_interval(spoilt, 5).low));
  cr_expect(isnan(statistics_ratio_of_medians(good, 5, zero, 5).ratio));
  cr_expect(isnan(statistics_ratio_of_medians(zero, 5, good, 5).interval.high));
  cr_expect(isnan(statistics_paired_ratio(good, zero, 5).ratio));
  cr_expect(isnan(statistics_paired_ratio(zero, good, 5).ratio));
  cr_expect(isnan(statistics_spread(spoilt, 5)) && isnan(statistics_spread(NULL, 0)));
}

// The ranks of the lower ends were computed with Python's fractions, from the formula of the paper. They lie between those
// of two samples, but for five runs: P(Bin(n, 1/2) < d) is 1.07 % for n = 10 with d = 2, and 5.47 % with d = 3. For 22 runs
// and d = 7 it is 2.62 %, which is nearly enough.
Test(statistics, interval_lies_between_order_statistics) {
  static const struct {
    size_t count;
    double rank;
  } cases[] = {{5, 1},
               {6, 1.3571428571428572},
               {9, 2.227906976744186},
               {10, 2.6576576576576576},
               {17, 5.02401560249334},
               {22, 6.9726837060702875},
               {30, 10.228711498709886}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    const sample_set samples = ramp(cases[i].count, 1);
    const statistics_interval got = statistics_median_interval(samples.values, samples.count);
    const double n = (double)cases[i].count;
    cr_expect(close_to(got.low, cases[i].rank, 1e-12), "%g runs: from the sample of rank %.17g", n,
              got.low);
    cr_expect(close_to(got.high, n + 1 - got.low, 1e-14), "%g runs: %g to %g", n, got.low,
              got.high);
  }
}

// Of a few more runs, 2^-n would be 0 in float64, and so would each probability.
Test(statistics, interval_of_the_most_runs) {
  static const double runs[STATISTICS_MOST_RUNS + 1];
  cr_expect_eq(statistics_median_interval(runs, STATISTICS_MOST_RUNS).low, 0);
  cr_expect(isnan(statistics_median_interval(runs, STATISTICS_MOST_RUNS + 1).low));
}

// --- coverage: of what many runs of a machine would give, how often does the interval of ten hold it?

static double normal(uint64_t *state) {
  const double pi = 3.14159265358979323846;
  return sqrt(-2 * log(uniform(state))) * cos(2 * pi * uniform(state));
}

typedef struct {
  const char *name;
  size_t runs;
  double follow; // correlation of a launch with the one before it, in its run
  double run;    // deviation of the runs from each other, where that of a launch is 1
  double drift;  // how far the machine drifts from the first run to the last
  double tail;   // share of launches that are disturbed, by 20 deviations
} machine;

enum { LAUNCHES = 10 };

// Returns the median of one run's launches.
static double one_run(const machine *machine, size_t number, uint64_t *state) {
  const double offset = machine->run * normal(state);
  const double place = machine->runs > 1 ? (double)number / (double)(machine->runs - 1) - 0.5 : 0;
  double launches[LAUNCHES];
  double follows = normal(state);
  for (size_t i = 0; i < LAUNCHES; i++) {
    follows =
        machine->follow * follows + sqrt(1 - machine->follow * machine->follow) * normal(state);
    launches[i] = 1000 + follows + offset + machine->drift * place;
    if (uniform(state) < machine->tail) launches[i] += 20;
  }
  return statistics_median(launches, LAUNCHES);
}

static const machine machines[] = {
    {"independent", 10, 0, 0, 0, 0},
    {"independent, five runs", 5, 0, 0, 0, 0},
    {"independent, thirty runs", 30, 0, 0, 0, 0},
    {"independent, disturbed", 10, 0, 0, 0, 0.1},
    {"AR(1) of 0.5", 10, 0.5, 0, 0, 0},
    {"AR(1) of 0.9", 10, 0.9, 0, 0, 0},
    {"AR(1) of 0.9, thirty runs", 30, 0.9, 0, 0, 0},
    {"AR(1) of 0.9, runs apart", 10, 0.9, 2, 0, 0},
    {"AR(1) of 0.9, slow drift", 10, 0.9, 0.5, 1, 0},
    {"AR(1) of 0.9, runs apart, disturbed", 10, 0.9, 1, 0, 0.1},
};

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left;
  const double b = *(const double *)right;
  return (a > b) - (a < b);
}

// Returns the true median of a run of the machine, from very many runs.
static double truth(const machine *machine) {
  enum { MANY = 40001 };
  static double medians[MANY];
  uint64_t state = 77;
  for (size_t i = 0; i < MANY; i++) medians[i] = one_run(machine, i % machine->runs, &state);
  qsort(medians, MANY, sizeof *medians, compare_doubles);
  return medians[MANY / 2];
}

Test(statistics, the_interval_covers_the_median) {
  enum { TRIALS = 3000 };
  for (size_t i = 0; i < LENGTH(machines); i++) {
    const machine *machine = &machines[i];
    const double expected = truth(machine);
    uint64_t state = 1 + i;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      double medians[30];
      for (size_t run = 0; run < machine->runs; run++) medians[run] = one_run(machine, run, &state);
      const statistics_interval got = statistics_median_interval(medians, machine->runs);
      covered += got.low <= expected && expected <= got.high;
    }
    const double percent = 100.0 * covered / TRIALS;
    cr_expect(percent >= 93 && percent <= 97, "%s: %.1f %% of the intervals hold the median",
              machine->name, percent);
  }
}

// The old method, for comparison: an interval of all launches, as if they were independent.
Test(statistics, launches_of_one_run_are_not_runs) {
  enum { TRIALS = 1000, RUNS = 10 };
  const machine machine = {"", RUNS, 0.9, 0, 0, 0};
  uint64_t state = 3;
  int covered = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double launches[RUNS * LAUNCHES];
    double follows = normal(&state);
    for (size_t i = 0; i < LENGTH(launches); i++) {
      follows =
          machine.follow * follows + sqrt(1 - machine.follow * machine.follow) * normal(&state);
      launches[i] = 1000 + follows;
    }
    const statistics_interval got = statistics_median_interval(launches, LENGTH(launches));
    covered += got.low <= 1000 && 1000 <= got.high;
  }
  cr_expect(covered < TRIALS / 2, "%d of %d: then runs would not be needed", covered, TRIALS);
}

// Two contenders run on one machine, whose speed varies by far more than they differ.
Test(statistics, ratios_of_one_round_cancel_what_the_round_has) {
  enum { TRIALS = 2000, RUNS = 10 };
  uint64_t state = 5;
  int covered = 0;
  double paired_width = 0, apart_width = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double a[RUNS], b[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
      const double speed = exp(0.05 * normal(&state));
      a[i] = 1.25 * speed * exp(0.002 * normal(&state));
      b[i] = speed * exp(0.002 * normal(&state));
    }
    const statistics_ratio paired = statistics_paired_ratio(a, b, RUNS);
    const statistics_ratio apart = statistics_ratio_of_medians(a, RUNS, b, RUNS);
    covered += paired.interval.low <= 1.25 && 1.25 <= paired.interval.high;
    paired_width += paired.interval.high - paired.interval.low;
    apart_width += apart.interval.high - apart.interval.low;
  }
  const double percent = 100.0 * covered / TRIALS;
  cr_expect(percent >= 93 && percent <= 97, "%.1f %%", percent);
  cr_expect_lt(paired_width, apart_width / 10);
}

Test(statistics, ratio_of_medians_covers_the_ratio) {
  enum { TRIALS = 2000, RUNS = 10 };
  uint64_t state = 9;
  int covered = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double a[RUNS], b[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
      a[i] = 3 * exp(0.03 * normal(&state));
      b[i] = 2 * exp(0.01 * normal(&state));
    }
    const statistics_ratio got = statistics_ratio_of_medians(a, RUNS, b, RUNS);
    covered += got.interval.low <= 1.5 && 1.5 <= got.interval.high;
  }
  const double percent = 100.0 * covered / TRIALS;
  cr_expect(percent >= 93 && percent <= 97.5, "%.1f %%", percent);
}

Test(statistics, a_ratio_turned_over_has_its_interval_turned_over) {
  const sample_set a = ramp(9, 20);
  const sample_set b = ramp(7, 10);
  const statistics_ratio got = statistics_ratio_of_medians(a.values, 9, b.values, 7);
  const statistics_ratio over = statistics_ratio_of_medians(b.values, 7, a.values, 9);
  cr_expect(got.ratio == 24 / 13.0 && got.interval.low < got.ratio &&
            got.ratio < got.interval.high);
  cr_expect(close_to(over.interval.low, 1 / got.interval.high, 1e-12) &&
            close_to(over.interval.high, 1 / got.interval.low, 1e-12));
}

Test(statistics, spread_of_normal_samples_is_their_deviation) {
  static double samples[20000];
  uint64_t state = 2;
  for (size_t i = 0; i < LENGTH(samples); i++) samples[i] = 5 + 0.3 * normal(&state);
  cr_expect(close_to(statistics_spread(samples, LENGTH(samples)), 0.3, 0.03));
  for (size_t i = 0; i < LENGTH(samples) / 20; i++)
    samples[i] = 1e6; // one in twenty changes little
  cr_expect(close_to(statistics_spread(samples, LENGTH(samples)), 0.3, 0.1));
}

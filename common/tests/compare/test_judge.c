// Runs with known answers. The p values were printed by SciPy 1.17.1:
// scipy.stats.mannwhitneyu(new, old, alternative="two-sided", method="exact").pvalue, and with
// method="asymptotic" where there are ties.
#include "compare/judge.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { MOST = 100 };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

typedef struct {
  double times[MOST];
  measurement measurement;
} run;

// 100 us, 100.1, ... : `count` times, a part `slower`.
static void fill(run *run, size_t count, double slower) {
  run->measurement = (measurement){.samples = count, .microseconds = run->times};
  for (size_t i = 0; i < count; i++) run->times[i] = (100 + 0.1 * (double)i) * (1 + slower);
}

static comparison judge_one(const run *old_run, const run *new_run, double threshold) {
  comparison one = {.old_run = &old_run->measurement, .new_run = &new_run->measurement};
  error_text error;
  cr_assert(judge(&one, 1, threshold, &error));
  return one;
}

static void expect(const char *name, const comparison *got, double p, double delta,
                   verdict verdict) {
  cr_expect(fabs(got->p - p) <= 1e-9 * p, "%s: p is %.17g instead of %.17g", name, got->p, p);
  cr_expect(fabs(got->delta - delta) < 1e-12, "%s: delta is %.17g", name, got->delta);
  cr_expect_eq(got->verdict, verdict, "%s: %s", name, verdict_name(got->verdict));
}

Test(judge, equal_runs) {
  run a, b;
  for (size_t count = 4; count <= MOST; count += 16) {
    fill(&a, count, 0);
    fill(&b, count, 0);
    const comparison got = judge_one(&a, &b, 0.03);
    expect("equal", &got, 1, 0, VERDICT_SAME);
    cr_expect(got.ratio.ratio == 1 && got.old_ms == got.new_ms);
  }
}

// A shift is found from the threshold on, in both directions, and only there.
Test(judge, shifted_runs) {
  static const struct {
    double slower;
    double threshold;
    verdict verdict, swapped;
  } cases[] = {
      {0.02, 0.03, VERDICT_SAME, VERDICT_SAME},       {0.029, 0.03, VERDICT_SAME, VERDICT_SAME},
      {0.0305, 0.03, VERDICT_SLOWER, VERDICT_FASTER}, {0.5, 0.03, VERDICT_SLOWER, VERDICT_FASTER},
      {0.02, 0.01, VERDICT_SLOWER, VERDICT_FASTER},   {0.5, 0.6, VERDICT_SAME, VERDICT_SAME},
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    run a, b;
    fill(&a, 12, 0);
    fill(&b, 12, cases[i].slower);
    const comparison got = judge_one(&a, &b, cases[i].threshold);
    // No overlap: 2 / (24 over 12).
    expect("shifted", &got, 7.39602301050679e-07, 1, cases[i].verdict);
    cr_expect(fabs(got.ratio.ratio - 1 - cases[i].slower) < 1e-12);
    cr_expect(got.ratio.interval.low <= got.ratio.ratio &&
              got.ratio.ratio <= got.ratio.interval.high);
    cr_expect_eq(judge_one(&b, &a, cases[i].threshold).verdict, cases[i].swapped, "case %zu", i);
  }
}

// Medians apart by more than the threshold, but by chance.
Test(judge, far_apart_but_not_significant) {
  run a = {{100, 120, 101, 119, 102, 118, 103, 117, 104}, {.samples = 9}};
  run b = {{101.5, 121, 102.5, 119.5, 116, 118.5, 103.5, 117.5, 116.5}, {.samples = 9}};
  a.measurement.microseconds = a.times;
  b.measurement.microseconds = b.times;
  const comparison got = judge_one(&a, &b, 0.03);
  cr_expect(got.ratio.ratio > 1.1, "%g", got.ratio.ratio);
  expect("scattered", &got, 0.4894282188399835, 0.20987654320987653, VERDICT_SAME);
}

Test(judge, one_outlier) {
  run a, b;
  fill(&a, 10, 0);
  fill(&b, 10, 0);
  for (size_t i = 0; i < 10; i++) b.times[i] += 0.03; // so that there are no ties
  b.times[4] = 1e6;
  const comparison got = judge_one(&a, &b, 0.03);
  expect("outlier", &got, 0.48125094719521977, 0.2, VERDICT_SAME);
}

Test(judge, ties) {
  run a = {{5, 5, 5, 6, 6, 7, 7, 7}, {.samples = 8}};
  run b = {{7, 7, 8, 8, 8, 9, 9, 9}, {.samples = 8}};
  a.measurement.microseconds = a.times;
  b.measurement.microseconds = b.times;
  const comparison got = judge_one(&a, &b, 0.03);
  expect("ties", &got, 0.0021515045257463625, 0.90625, VERDICT_SLOWER);
}

Test(judge, too_few_samples) {
  static const struct {
    size_t old_count, new_count;
    verdict verdict;
  } cases[] = {{1, 1, VERDICT_TOO_FEW}, {1, 100, VERDICT_TOO_FEW}, {100, 1, VERDICT_TOO_FEW},
               {3, 3, VERDICT_TOO_FEW}, {4, 4, VERDICT_SLOWER},    {2, 7, VERDICT_TOO_FEW},
               {2, 8, VERDICT_SLOWER}};
  for (size_t i = 0; i < LENGTH(cases); i++) {
    run a, b;
    fill(&a, cases[i].old_count, 0);
    fill(&b, cases[i].new_count, 0.5);
    const comparison got = judge_one(&a, &b, 0.03);
    cr_expect_eq(got.verdict, cases[i].verdict, "%zu against %zu: %s, p %g", cases[i].old_count,
                 cases[i].new_count, verdict_name(got.verdict), got.p);
  }
}

// Five samples a side that do not overlap: p is 2 / 252. One such pair is significant beside five that
// are equal (6 * 2 / 252 < 0.05), and not beside six; but seven such pairs of seven are.
Test(judge, many_comparisons) {
  static const struct {
    size_t count, shifted;
    verdict verdict;
  } cases[] = {{6, 1, VERDICT_SLOWER}, {7, 1, VERDICT_TOO_FEW}, {7, 7, VERDICT_SLOWER}};
  run a, b, same;
  fill(&a, 5, 0);
  fill(&b, 5, 0.5);
  fill(&same, 100, 0);
  for (size_t i = 0; i < LENGTH(cases); i++) {
    comparison all[7];
    error_text error;
    for (size_t k = 0; k < cases[i].count; k++) {
      const bool shifted = k < cases[i].shifted;
      all[k] = (comparison){.old_run = shifted ? &a.measurement : &same.measurement,
                            .new_run = shifted ? &b.measurement : &same.measurement};
    }
    cr_assert(judge(all, cases[i].count, 0.03, &error));
    for (size_t k = 0; k < cases[i].count; k++) {
      const verdict expected = k < cases[i].shifted ? cases[i].verdict : VERDICT_SAME;
      cr_expect_eq(all[k].verdict, expected, "case %zu, %zu: %s", i, k,
                   verdict_name(all[k].verdict));
    }
  }
}

// p is 0.0387 alone and seven times that among seven; the samples would have been enough.
Test(judge, significant_by_itself_only) {
  run a = {{0}, {.samples = 12, .microseconds = a.times}};
  run b = {{0}, {.samples = 12, .microseconds = b.times}};
  for (size_t i = 0; i < 12; i++) {
    a.times[i] = 100 + (double)i;
    b.times[i] = 103.5 + (double)i;
  }
  comparison all[7];
  error_text error;
  for (size_t k = 0; k < 7; k++) {
    all[k] =
        (comparison){.old_run = &a.measurement, .new_run = k ? &a.measurement : &b.measurement};
  }
  const comparison alone = judge_one(&a, &b, 0.03);
  expect("alone", &alone, 0.03872113886920726, 0.5, VERDICT_SLOWER);
  cr_assert(judge(all, 7, 0.03, &error));
  expect("among seven", &all[0], 7 * 0.03872113886920726, 0.5, VERDICT_SAME);
}

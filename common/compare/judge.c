#include "compare/judge.h"

#include "progress/progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_name(verdict verdict) {
  static const char *const names[VERDICTS] = {"slower", "faster", "no difference",
                                              "too few samples"};
  return names[verdict];
}

// The smallest p that the rank test can give: one arrangement of ranks at each end, of
// (m + n over m) in all.
static double smallest_p(size_t m, size_t n) {
  double arrangements = 1;
  for (size_t i = 1; i <= m; i++) arrangements *= (double)(n + i) / (double)i;
  return fmin(1, 2 / arrangements);
}

// Whether the comparison could be significant at all, beside the others as they are.
static bool enough_samples(const double *p, size_t count, size_t index, const comparison *one,
                           double *scratch) {
  if (one->old_run->samples < 2 || one->new_run->samples < 2) return false;
  memcpy(scratch, p, count * sizeof *scratch);
  scratch[index] = smallest_p(one->old_run->samples, one->new_run->samples);
  statistics_adjust_p(scratch, count);
  return scratch[index] < JUDGE_ALPHA;
}

static verdict decide(const comparison *one, bool enough, double threshold) {
  const bool significant = one->p < JUDGE_ALPHA;
  if (!enough) return VERDICT_TOO_FEW;
  if (significant && one->ratio.ratio > 1 + threshold) return VERDICT_SLOWER;
  if (significant && 1 / one->ratio.ratio > 1 + threshold) return VERDICT_FASTER;
  return VERDICT_SAME;
}

static void measure(comparison *one) {
  const double *a = one->new_run->microseconds;
  const double *b = one->old_run->microseconds;
  const size_t a_count = one->new_run->samples;
  const size_t b_count = one->old_run->samples;
  const uint64_t seed = 1; // the same samples give the same interval
  one->new_ms = statistics_median(a, a_count) / 1000;
  one->old_ms = statistics_median(b, b_count) / 1000;
  one->ratio = statistics_ratio_of_medians(a, a_count, b, b_count, seed);
  one->p = statistics_mann_whitney(a, a_count, b, b_count).p;
  one->delta = statistics_cliffs_delta(a, a_count, b, b_count);
}

bool judge(comparison *comparisons, size_t count, double threshold, error_text *error) {
  double *p = calloc(count + 1, sizeof *p);
  double *adjusted = calloc(count + 1, sizeof *adjusted);
  double *scratch = calloc(count + 1, sizeof *scratch);
  const bool good = (p && adjusted && scratch) || fail(error, "not enough memory to compare");
  progress bar = progress_start("comparing", count);
  for (size_t i = 0; i < count && good; i++) {
    measure(&comparisons[i]);
    p[i] = adjusted[i] = comparisons[i].p;
    progress_show(&bar, i + 1);
  }
  progress_end(&bar);
  if (good) statistics_adjust_p(adjusted, count);
  for (size_t i = 0; i < count && good; i++) {
    comparison *one = &comparisons[i];
    one->p = adjusted[i];
    one->verdict = decide(one, enough_samples(p, count, i, one, scratch), threshold);
  }
  free(p);
  free(adjusted);
  free(scratch);
  return good;
}

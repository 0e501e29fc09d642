#include "compare/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// With fewer cells, noise and a change cannot be told apart.
enum { LEAST_CELLS = 8, BANDS = 4 };
static const double noises = 3;           // that a change must exceed
static const double largest_noise = 0.10; // a larger change is always reported

const char *verdict_name(verdict verdict) {
  static const char *const names[VERDICTS] = {"slower", "faster", "no difference", "too few runs"};
  return names[verdict];
}

static void measure(comparison *one) {
  const measurement *old_run = one->old_run;
  const measurement *new_run = one->new_run;
  one->old_ms = statistics_median(old_run->microseconds, old_run->rounds) / 1000;
  one->new_ms = statistics_median(new_run->microseconds, new_run->rounds) / 1000;
  const size_t pairs = old_run->rounds < new_run->rounds ? old_run->rounds : new_run->rounds;
  one->ratio = one->paired
                   ? statistics_paired_ratio(new_run->microseconds, old_run->microseconds, pairs)
                   : statistics_ratio_of_medians(new_run->microseconds, new_run->rounds,
                                                 old_run->microseconds, old_run->rounds);
}

// Short times scatter more than long ones, so there are bands of up to 20 us, 200 us, 2 ms, and longer.
static int band_of(const comparison *one) {
  int band = 0;
  for (double end = 0.02; band < BANDS - 1 && one->old_ms > end; end *= 10) band++;
  return band;
}

typedef struct {
  double noise; // the spread of the logarithms of the ratios; NaN of too few cells
  double limit; // what a change must exceed: more, the fewer cells tell the noise
} band_noise;

// Computes the noise of one band, or of all bands for BANDS.
static band_noise noise_of(const comparison *comparisons, size_t count, int band, double *scratch) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (band == BANDS || band_of(&comparisons[i]) == band) {
      scratch[found++] = log(comparisons[i].ratio.ratio);
    }
  }
  if (found < LEAST_CELLS) return (band_noise){NAN, NAN};
  const double noise = statistics_spread(scratch, found);
  return (band_noise){noise, noises * (1 + 6 / (double)found) * noise};
}

static verdict decide(const comparison *one, double common) {
  const double ratio = one->ratio.ratio / common;
  const double low = one->ratio.interval.low / common;
  const double high = one->ratio.interval.high / common;
  if (isnan(low)) return VERDICT_TOO_FEW;
  if (low > 1 && ratio > 1 + one->limit) return VERDICT_SLOWER;
  if (high < 1 && 1 / ratio > 1 + one->limit) return VERDICT_FASTER;
  return VERDICT_SAME;
}

static void find_limits(comparison *comparisons, size_t count, double threshold, bool same_cells,
                        double *scratch, judgement *judgement) {
  band_noise bands[BANDS + 1] = {{NAN, NAN}};
  for (int band = 0; band <= BANDS; band++) {
    bands[band] = same_cells ? noise_of(comparisons, count, band, scratch) : (band_noise){NAN, NAN};
  }
  judgement->noise = bands[BANDS].noise;
  judgement->smallest = HUGE_VAL;
  judgement->largest = 0;
  for (size_t i = 0; i < count; i++) {
    const double own = bands[band_of(&comparisons[i])].limit;
    const double limit = isnan(own) ? bands[BANDS].limit : own;
    comparisons[i].limit = fmax(threshold, isnan(limit) ? 0 : fmin(limit, largest_noise));
    judgement->smallest = fmin(judgement->smallest, comparisons[i].limit);
    judgement->largest = fmax(judgement->largest, comparisons[i].limit);
  }
}

bool judge(comparison *comparisons, size_t count, double threshold, bool same_cells,
           judgement *judgement, error_text *error) {
  *judgement = (struct judgement){.common = 1, .noise = NAN};
  double *scratch = calloc(count + 1, sizeof *scratch);
  if (!scratch) return fail(error, "not enough memory to compare");
  for (size_t i = 0; i < count; i++) {
    measure(&comparisons[i]);
    scratch[i] = comparisons[i].ratio.ratio;
  }
  if (count > 0) judgement->common = statistics_median(scratch, count);
  find_limits(comparisons, count, threshold, same_cells, scratch, judgement);
  // Another GPU of the same kind is a little faster or slower in all cells, and this factor is divided out. A
  // larger factor is a difference of the code, or one to investigate, and is not divided out.
  judgement->divided = same_cells && count >= LEAST_CELLS &&
                       fabs(log(judgement->common)) <= log1p(JUDGE_MOST_COMMON);
  for (size_t i = 0; i < count; i++) {
    comparisons[i].verdict = decide(&comparisons[i], judgement->divided ? judgement->common : 1);
  }
  free(scratch);
  return true;
}

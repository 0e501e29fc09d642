#include "compare/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// With fewer cells, noise and a change cannot be told apart.
enum { LEAST_CELLS = 8 };
static const double noises = 3;           // that a change must exceed
static const double largest_noise = 0.10; // a larger change is always reported

const char *verdict_name(verdict verdict) {
  static const char *const names[VERDICTS] = {"slower", "faster", "no difference", "too few runs"};
  return names[verdict];
}

double judge_band_end(int band) {
  return band == JUDGE_BANDS - 1 ? HUGE_VAL : 0.02 * pow(10, band);
}

static int band_of(const comparison *one) {
  int band = 0;
  while (one->old_ms > judge_band_end(band)) band++;
  return band;
}

// Returns by how much longer an empty kernel takes in the new recordings than in the old ones, in microseconds; NaN when
// no cell tells it for both.
static double floor_difference(const comparison *comparisons, size_t count, double *scratch) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const double difference = comparisons[i].new_run->floor_us - comparisons[i].old_run->floor_us;
    if (!comparisons[i].paired && !isnan(difference)) scratch[found++] = difference;
  }
  return found ? statistics_median(scratch, found) : NAN;
}

static void measure(comparison *one, double floor_us) {
  const measurement *old_run = one->old_run;
  const measurement *new_run = one->new_run;
  double without[STATISTICS_MOST_RUNS];
  bool positive = !one->paired && !isnan(floor_us);
  for (size_t i = 0; i < new_run->rounds && positive; i++) {
    without[i] = new_run->microseconds[i] - floor_us;
    positive = without[i] > 0;
  }
  const double *new_us = positive ? without : new_run->microseconds;
  one->old_ms = statistics_median(old_run->microseconds, old_run->rounds) / 1000;
  one->new_ms = statistics_median(new_run->microseconds, new_run->rounds) / 1000;
  const size_t pairs = old_run->rounds < new_run->rounds ? old_run->rounds : new_run->rounds;
  one->ratio = one->paired ? statistics_paired_ratio(new_us, old_run->microseconds, pairs)
                           : statistics_ratio_of_medians(new_us, new_run->rounds,
                                                         old_run->microseconds, old_run->rounds);
}

// Judges the cells of one band, or those of all bands for JUDGE_BANDS. A cell whose two rows were timed in one run, which
// are one row where a recording holds a part of the other, tells nothing of two recordings.
static judge_band judge_cells(const comparison *comparisons, size_t count, int band,
                              bool same_cells, double *scratch) {
  judge_band result = {.common = 1, .noise = NAN, .limit = NAN};
  for (size_t i = 0; i < count; i++) {
    const bool twice = !comparisons[i].paired || !same_cells;
    if (twice && (band == JUDGE_BANDS || band_of(&comparisons[i]) == band)) {
      scratch[result.cells++] = log(comparisons[i].ratio.ratio);
    }
  }
  if (result.cells > 0) result.common = exp(statistics_median(scratch, result.cells));
  if (!same_cells || result.cells < LEAST_CELLS) return result;
  result.noise = statistics_spread(scratch, result.cells);
  result.limit = noises * (1 + 6 / (double)result.cells) * result.noise;
  // Another GPU of the same kind is a little faster or slower in all cells that take about as long, and this factor is
  // divided out. A larger factor is a difference of the code, or one to investigate, and is not divided out.
  result.divided = fabs(log(result.common)) <= log1p(JUDGE_MOST_COMMON);
  return result;
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

bool judge(comparison *comparisons, size_t count, double threshold, bool same_cells,
           judgement *judgement, error_text *error) {
  double *scratch = calloc(count + 1, sizeof *scratch);
  if (!scratch) return fail(error, "not enough memory to compare");
  *judgement = (struct judgement){.floor_us = NAN, .smallest = HUGE_VAL};
  if (same_cells) judgement->floor_us = floor_difference(comparisons, count, scratch);
  for (size_t i = 0; i < count; i++) measure(&comparisons[i], judgement->floor_us);
  judgement->all = judge_cells(comparisons, count, JUDGE_BANDS, same_cells, scratch);
  for (int band = 0; band < JUDGE_BANDS; band++) {
    judgement->bands[band] = judge_cells(comparisons, count, band, same_cells, scratch);
  }
  for (size_t i = 0; i < count; i++) {
    comparison *one = &comparisons[i];
    const judge_band *own = &judgement->bands[band_of(one)];
    if (isnan(own->noise)) own = &judgement->all;
    one->limit = fmax(threshold, isnan(own->limit) ? 0 : fmin(own->limit, largest_noise));
    judgement->smallest = fmin(judgement->smallest, one->limit);
    judgement->largest = fmax(judgement->largest, one->limit);
    one->verdict = decide(one, own->divided ? own->common : 1);
  }
  free(scratch);
  return true;
}

#include "reference/allowance.h"

#include <math.h>

#define FLOAT_ROUNDING  0x1p-24
#define SCORE_ROUNDINGS 8.0
#define EXP2_ERROR      0x1p-21
#define MARGIN          1.25
#define MEAN_MARGIN     1.5
#define MATTERS         20.0 // nats: exp(-20) is 2e-9

// They return half a unit in the last place, relative to the value, and that of subnormal numbers,
// as an absolute value.
static double rounding(attention_dtype dtype) { return dtype == ATTENTION_FP16 ? 0x1p-11 : 0x1p-8; }
static double subnormal_rounding(attention_dtype dtype) {
  return dtype == ATTENTION_FP16 ? 0x1p-25 : 0x1p-134;
}

static double norm(const float *vector, int dim) {
  double sum = 0;
  for (int d = 0; d < dim; d++) sum += (double)vector[d] * (double)vector[d];
  return sqrt(sum);
}

// e_j is this times |K[j]|.
static double score_error_factor(const row_problem *row) {
  return SCORE_ROUNDINGS * FLOAT_ROUNDING * fabs((double)row->scale) * norm(row->q, row->dim);
}

// Returns the score below which a key does not matter, even with the largest errors in its score
// and in the others.
static double least_score(const row_problem *row, const double *scores, double factor) {
  double surely = -INFINITY;
  for (int key = 0; key < row->keys; key++)
    surely = fmax(surely, scores[key] - factor * (double)row->K_norm[key]);
  return surely - MATTERS;
}

static bool matters(const row_problem *row, const double *scores, int key, double factor,
                    double least) {
  return scores[key] + factor * (double)row->K_norm[key] >= least;
}

double allowance_score_error(const row_problem *row, const double *scores, double *lse_error) {
  const double factor = score_error_factor(row);
  const double least = least_score(row, scores, factor);
  double error = 0;
  int rivals = 0;
  for (int key = 0; key < row->keys; key++) {
    if (!matters(row, scores, key, factor, least)) continue;
    error = fmax(error, factor * (double)row->K_norm[key]);
    rivals++;
  }
  *lse_error = error;
  return rivals > 1 ? error : 0;
}

// Turns sum_j (the error of rounding P_j)^2 V[j][d]^2 into the mean error of each element. `in_all_keys` is the part that
// the weights may be off by in the same direction, and `sums` that of the sums over the keys.
static void mean_of_row(const row_problem *row, const double *o, const double *peak,
                        double in_all_keys, double sums, const float *allowed, float *mean) {
  const double unit = rounding(row->dtype), least = subnormal_rounding(row->dtype);
  for (int d = 0; d < row->dim; d++) {
    const double size = fabs(o[d]);
    // That of O, and as much for a part that all probabilities share.
    const double rounded = 2 * (size * unit * size * unit + least * least);
    const double weighted = (double)allowed[d] / unit; // sum_j w_j |V[j][d]| or more
    mean[d] = (float)(MEAN_MARGIN * sqrt(((double)mean[d] + rounded) / 3) +
                      in_all_keys * (weighted + size) + sums * (peak[d] + size));
  }
}

void allowance_of_row(const row_problem *row, const double *weights, const double *o,
                      const double *peak, double score_error, float *allowed, float *mean) {
  // Where only one key matters, its weight is 1 for any score.
  const bool matter = score_error > 0 && score_error <= ALLOWANCE_ILL;
  const double factor = matter ? score_error_factor(row) : 0;
  const double sums = FLOAT_ROUNDING * (32 + row->keys / 8.0) + EXP2_ERROR;
  const double unit = rounding(row->dtype), least = subnormal_rounding(row->dtype);
  double in_all = 0; // what the sum of the weights may be off by
  double lost = 0;   // weights that may all be rounded to 0
  for (int d = 0; d < row->dim; d++) allowed[d] = mean[d] = 0;
  for (int key = 0; key < row->keys; key++) {
    const double weight = weights[key];
    if (weight == 0) continue;
    const double in_float = fmin(factor * (double)row->K_norm[key], 1) + sums;
    const float off = (float)(weight * (unit + in_float) + fmin(weight, least));
    const float *values = row->V + (size_t)key * (size_t)row->dim;
    const float rounded = (float)fmax(weight * unit, fmin(weight, least));
    in_all += weight * in_float;
    if (weight < 2 * least) lost += weight;
#pragma omp simd
    for (int d = 0; d < row->dim; d++) {
      const float part = rounded * values[d];
      allowed[d] += off * fabsf(values[d]);
      mean[d] += part * part;
    }
  }
  mean_of_row(row, o, peak, score_error + EXP2_ERROR + lost, sums, allowed, mean);
  for (int d = 0; d < row->dim; d++)
    allowed[d] = (float)(MARGIN * ((double)allowed[d] + fabs(o[d]) * (unit + in_all) + least));
}

void allowance_of_uncertain_row(const row_problem *row, const double *scores, const double *o,
                                const float *allowed, float *low, float *high) {
  const double factor = score_error_factor(row);
  const double least = least_score(row, scores, factor);
  double lse_error; // the same in such a row, in which several keys matter
  const double error = allowance_score_error(row, scores, &lse_error);
  const double unit = rounding(row->dtype);
  for (int d = 0; d < row->dim; d++) {
    low[d] = INFINITY;
    high[d] = -INFINITY;
  }
  for (int key = 0; key < row->keys; key++) {
    if (!matters(row, scores, key, factor, least)) continue;
    const float *values = row->V + (size_t)key * (size_t)row->dim;
    for (int d = 0; d < row->dim; d++) {
      low[d] = fminf(low[d], values[d]);
      high[d] = fmaxf(high[d], values[d]);
    }
  }
  for (int d = 0; d < row->dim; d++) {
    const double largest = fmax(fabs((double)low[d]), fabs((double)high[d]));
    double from = (double)low[d], to = (double)high[d];
    if (error < 1) {
      const double off = expm1(2 * error) * (largest + fabs(o[d]));
      from = fmax(from, o[d] - off);
      to = fmin(to, o[d] + off);
    }
    // P and O are rounded, wherever O lies.
    const double rounded = fmax((double)allowed[d], MARGIN * 2 * unit * largest);
    low[d] = (float)(from - rounded);
    high[d] = (float)(to + rounded);
  }
}

#include "reference/reference.h"

#include "numeric/float16.h"
#include "reference/allowance.h"
#include "reference/low_precision.h"
#include "shape/shape.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>

float reference_value(attention_dtype dtype, uint16_t bits) {
  return dtype == ATTENTION_FP16 ? fp16_to_float(bits) : bf16_to_float(bits);
}

float reference_round(attention_dtype dtype, float value) {
  return dtype == ATTENTION_FP16 ? fp16_to_float(fp16_from_float(value))
                                 : bf16_to_float(bf16_from_float(value));
}

// Runs before main and limits the threads of all the lab's parallel loops to the number of processors.
// OMP_NUM_THREADS may ask for fewer. More threads are no faster, and libgomp crashes when it is asked for a
// million.
__attribute__((constructor)) static void limit_threads(void) {
  const int processors = omp_get_num_procs();
  if (omp_get_max_threads() > processors) omp_set_num_threads(processors);
}

// Writes the row's scaled scores into its scratch. Returns the largest, which is -infinity where the row sees
// no key.
static double exact_scores(const row_problem *row) {
  const int dim = row->dim;
  // The local pointer lets the compiler vectorise the loop. It would load values one by one if it read them
  // through the struct.
  const float *q = row->q;
  double row_max = -INFINITY;
  for (int key = 0; key < row->keys; key++) {
    const float *k = row->K + (size_t)key * (size_t)dim;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < dim; d++) sum += (double)q[d] * (double)k[d];
    row->scratch[key] = (double)row->scale * sum;
    row_max = fmax(row_max, row->scratch[key]);
  }
  return row_max;
}

// The sum over the first keys is looked at after every so many of them.
enum { PEAK_KEYS = 32 };

// Computes one row of attention, and the allowed error of a kernel's result.
static void compute_row(const row_problem *row, void *context) {
  reference_result *result = context;
  const int keys = row->keys, dim = row->dim;
  double *o = result->o + row->number * (size_t)dim;
  // 1. Scores, and the largest of them.
  double *scores = row->scratch;
  const double row_max = exact_scores(row);
  double lse_error;
  result->score_error[row->number] = (float)allowance_score_error(row, scores, &lse_error);
  result->lse_error[row->number] = (float)lse_error;
  // 2. Softmax.
  double row_sum = 0;
  for (int key = 0; key < keys; key++) {
    scores[key] = exp(scores[key] - row_max);
    row_sum += scores[key];
  }
  for (int key = 0; key < keys; key++) scores[key] /= row_sum;
  // 3. The weighted sum of V's rows.
  double *peak = row->scratch + keys;
  for (int d = 0; d < dim; d++) o[d] = peak[d] = 0;
  for (int key = 0; key < keys; key++) {
    const double weight = scores[key];
    const float *v = row->V + (size_t)key * (size_t)dim;
#pragma omp simd
    for (int d = 0; d < dim; d++) o[d] += weight * (double)v[d];
    if (key % PEAK_KEYS > 0 && key < keys - 1) continue;
#pragma omp simd
    for (int d = 0; d < dim; d++) peak[d] = fabs(o[d]) > peak[d] ? fabs(o[d]) : peak[d];
  }
  result->lse[row->number] = row_max + log(row_sum); // -infinity when keys is 0
  allowance_of_row(row, scores, o, peak, (double)result->score_error[row->number],
                   result->o_allowed + row->number * (size_t)dim,
                   result->o_mean + row->number * (size_t)dim);
}

static void compute_range(const row_problem *row, void *context) {
  reference_result *result = context;
  if (!reference_ill_conditioned(result, row->number)) return;
  const size_t first = row->number * (size_t)row->dim;
  exact_scores(row);
  allowance_of_uncertain_row(row, row->scratch, result->o + first, result->o_allowed + first,
                             result->o_low + first, result->o_high + first);
}

// 2 * max |low - ref| + 2 * max |((ref + 0.3) - 0.3) - ref|, the latter in the element type.
static double error_bound(attention_dtype dtype, const double *exact, const float *low,
                          size_t count) {
  double low_error = 0;
  double rounding = 0;
#pragma omp parallel for reduction(max : low_error, rounding)
  for (size_t i = 0; i < count; i++) {
    const double distance = fabs((double)low[i] - exact[i]);
    if (isfinite(distance)) low_error = fmax(low_error, distance);
    const float rounded = reference_round(dtype, (float)exact[i]);
    const float there = reference_round(dtype, rounded + 0.3f);
    const float back = reference_round(dtype, there - 0.3f);
    const double drift = fabs((double)back - (double)rounded);
    if (isfinite(drift)) rounding = fmax(rounding, drift);
  }
  return 2 * low_error + 2 * rounding;
}

// No element may be off by more than the bound, or by 3 times its mean error where that is larger. Plain attention may come
// close to the reference by luck where there are few elements, or where one column is far larger than all others.
static void limit_allowances(reference_result *result, size_t rows, size_t columns) {
  const float bound = (float)result->o_bound;
  for (size_t row = 0; row < rows; row++) {
    const bool uncertain = reference_ill_conditioned(result, row);
    for (size_t i = row * columns; i < (row + 1) * columns; i++) {
      float *const allowed = &result->o_allowed[i];
      *allowed = fminf(*allowed, uncertain ? bound : fmaxf(bound, 3 * result->o_mean[i]));
      result->o_bound = fmax(result->o_bound, (double)*allowed);
    }
  }
}

// Computes the bounds of O for the ill-conditioned rows, if there are any.
static bool compute_ranges(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                           const uint16_t *v, reference_result *result, size_t rows, size_t count,
                           error_text *error) {
  bool any = false;
  for (size_t row = 0; row < rows && !any; row++) any = reference_ill_conditioned(result, row);
  if (!any) return true;
  result->o_low = malloc(count * sizeof *result->o_low);
  result->o_high = malloc(count * sizeof *result->o_high);
  if (!result->o_low || !result->o_high)
    return fail(error, "not enough memory for the reference of %s", shape_describe(shape).text);
  return rows_visit(shape, &result->selection, q, k, v, "uncertain rows", compute_range, result,
                    error);
}

// Computes the rows that the result's selection holds.
static bool compute_selected(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                             const uint16_t *v, reference_result *result, error_text *error) {
  const size_t rows = rows_count(shape, &result->selection);
  const size_t count = rows * (size_t)shape->head_dim;
  float *low = malloc(count * sizeof *low);
  result->o = malloc(count * sizeof *result->o);
  result->o_allowed = malloc(count * sizeof *result->o_allowed);
  result->o_mean = malloc(count * sizeof *result->o_mean);
  result->lse = malloc(rows * sizeof *result->lse);
  result->lse_error = malloc(rows * sizeof *result->lse_error);
  result->score_error = malloc(rows * sizeof *result->score_error);
  bool done = low && result->o && result->o_allowed && result->o_mean && result->lse &&
              result->lse_error && result->score_error;
  if (!done) {
    fail(error, "not enough memory for the reference of %s", shape_describe(shape).text);
  }
  done = done &&
         rows_visit(shape, &result->selection, q, k, v, "reference in float64", compute_row, result,
                    error) &&
         low_precision_compute(shape, &result->selection, q, k, v, low, error) &&
         compute_ranges(shape, q, k, v, result, rows, count, error);
  if (done) {
    result->o_bound = error_bound(shape->dtype, result->o, low, count);
    limit_allowances(result, rows, (size_t)shape->head_dim);
  } else {
    reference_free(result);
  }
  free(low);
  return done;
}

bool reference_compute(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                       const uint16_t *v, reference_result *result, error_text *error) {
  *result = (reference_result){0};
  return compute_selected(shape, q, k, v, result, error);
}

bool reference_compute_some(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                            const uint16_t *v, size_t per_head, uint64_t seed,
                            reference_result *result, error_text *error) {
  *result = (reference_result){0};
  return selection_create(shape, per_head, seed, &result->selection, error) &&
         compute_selected(shape, q, k, v, result, error);
}

bool reference_ill_conditioned(const reference_result *result, size_t row) {
  return (double)result->score_error[row] > ALLOWANCE_ILL;
}

void reference_free(reference_result *result) {
  selection_free(&result->selection);
  free(result->o);
  free(result->o_allowed);
  free(result->o_mean);
  free(result->o_low);
  free(result->o_high);
  free(result->lse);
  free(result->lse_error);
  free(result->score_error);
  *result = (reference_result){0};
}

#include "reference/reference.h"

#include "numeric/float16.h"
#include "progress/progress.h"
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

// Before main, for all the lab's parallel loops: OMP_NUM_THREADS may ask for fewer threads than there are
// processors. More are no faster, and libgomp crashes when it is asked for a million.
__attribute__((constructor)) static void limit_threads(void) {
  const int processors = omp_get_num_procs();
  if (omp_get_max_threads() > processors) omp_set_num_threads(processors);
}

static float *to_floats(attention_dtype dtype, const uint16_t *bits, size_t count) {
  float *values = malloc(count * sizeof *values);
  if (!values) return NULL;
#pragma omp parallel for
  for (size_t i = 0; i < count; i++) values[i] = reference_value(dtype, bits[i]);
  return values;
}

// One row of attention: q [head_dim], K and V [keys, head_dim], o [head_dim]; `scores` has room for
// one number a key. Returns the log-sum-exp.
static double exact_row(const float *q, const float *K, const float *V, int keys, int dim,
                        double scale, double *scores, double *o) {
  // 1. Scores, and the largest of them.
  double row_max = -INFINITY;
  for (int key = 0; key < keys; key++) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < dim; d++) sum += (double)q[d] * K[(size_t)key * dim + d];
    scores[key] = scale * sum;
    row_max = fmax(row_max, scores[key]);
  }
  // 2. Softmax, not yet divided by its sum.
  double row_sum = 0;
  for (int key = 0; key < keys; key++) {
    scores[key] = exp(scores[key] - row_max);
    row_sum += scores[key];
  }
  // 3. The weighted sum of V's rows.
  for (int d = 0; d < dim; d++) o[d] = 0;
  for (int key = 0; key < keys; key++) {
    const double weight = scores[key] / row_sum;
#pragma omp simd
    for (int d = 0; d < dim; d++) o[d] += weight * V[(size_t)key * dim + d];
  }
  return row_max + log(row_sum); // -infinity when keys is 0
}

// The same row as a framework's unfused path computes it: float32 inside each operation, rounded to
// the element type after each. `scores` and `sums` have room for a number a key and a column.
static void low_precision_row(attention_dtype dtype, const float *q, const float *K, const float *V,
                              int keys, int dim, float scale, float *scores, float *o) {
  // 1. Q K^T, rounded; times scale, rounded.
  float row_max = -INFINITY;
  for (int key = 0; key < keys; key++) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < dim; d++) sum += q[d] * K[(size_t)key * dim + d];
    scores[key] = reference_round(dtype, scale * reference_round(dtype, sum));
    row_max = fmaxf(row_max, scores[key]);
  }
  // 2. Softmax in float32, its result rounded.
  float row_sum = 0;
  for (int key = 0; key < keys; key++) {
    scores[key] = expf(scores[key] - row_max);
    row_sum += scores[key];
  }
  for (int key = 0; key < keys; key++) scores[key] = reference_round(dtype, scores[key] / row_sum);
  // 3. P V, rounded.
  for (int d = 0; d < dim; d++) o[d] = 0;
  for (int key = 0; key < keys; key++) {
#pragma omp simd
    for (int d = 0; d < dim; d++) o[d] += scores[key] * V[(size_t)key * dim + d];
  }
  for (int d = 0; d < dim; d++) o[d] = reference_round(dtype, o[d]);
}

// Rows of the selection, in all heads.
static size_t row_count(const attention_shape *shape, const row_selection *selection) {
  return (size_t)shape->batch * (size_t)shape->heads * selection_count(selection, shape);
}

// Runs over all rows of the selection with either method: o_exact and lse, or o_low, whichever is not
// NULL.
static bool for_every_row(const attention_shape *shape, const row_selection *selection,
                          const uint16_t *q_bits, const uint16_t *k_bits, const uint16_t *v_bits,
                          double *o_exact, double *lse, float *o_low, error_text *error) {
  const int dim = shape->head_dim;
  const size_t rows = row_count(shape, selection);
  float *q = to_floats(shape->dtype, q_bits, shape_q_count(shape));
  float *k = to_floats(shape->dtype, k_bits, shape_kv_count(shape));
  float *v = to_floats(shape->dtype, v_bits, shape_kv_count(shape));
  double *scores = malloc((size_t)omp_get_max_threads() * (size_t)shape->seq_kv * sizeof *scores);
  const bool enough = q && k && v && scores;

  if (enough) {
    progress bar = progress_start(o_exact ? "reference in float64" : "reference in 16 bits", rows);
    size_t done = 0;
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t row = 0; row < rows; row++) {
      const size_t head = row / selection_count(selection, shape); // of batch * heads
      const size_t query = selection_row(selection, head, row % selection_count(selection, shape));
      const float *q_row = q + (head * (size_t)shape->seq_q + query) * dim;
      const size_t group = (size_t)(shape->heads / shape->kv_heads);
      const size_t kv_head = head / (size_t)shape->heads * (size_t)shape->kv_heads +
                             head % (size_t)shape->heads / group;
      const size_t kv = kv_head * (size_t)shape->seq_kv * (size_t)dim;
      const int keys = shape_visible_keys(shape, (int)query);
      double *own_scores = scores + (size_t)omp_get_thread_num() * (size_t)shape->seq_kv;
      if (o_exact) {
        lse[row] = exact_row(q_row, k + kv, v + kv, keys, dim, (double)shape->scale, own_scores,
                             o_exact + row * dim);
      } else {
        low_precision_row(shape->dtype, q_row, k + kv, v + kv, keys, dim, shape->scale,
                          (float *)own_scores, o_low + row * dim);
      }
#pragma omp atomic
      done++;
      if (omp_get_thread_num() == 0) progress_show(&bar, done);
    }
    progress_end(&bar);
  } else {
    fail(error, "not enough memory for the reference of %s", shape_describe(shape).text);
  }
  free(q);
  free(k);
  free(v);
  free(scores);
  return enough;
}

bool reference_low_precision(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                             const uint16_t *v, float *o, error_text *error) {
  const row_selection all = {0};
  return for_every_row(shape, &all, q, k, v, NULL, NULL, o, error);
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

// Of the rows that the result's selection holds.
static bool compute_selected(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                             const uint16_t *v, reference_result *result, error_text *error) {
  const size_t rows = row_count(shape, &result->selection);
  const size_t count = rows * (size_t)shape->head_dim;
  float *low = malloc(count * sizeof *low);
  result->o = malloc(count * sizeof *result->o);
  result->lse = malloc(rows * sizeof *result->lse);
  bool done = low && result->o && result->lse;
  if (!done) {
    fail(error, "not enough memory for the reference of %s", shape_describe(shape).text);
  }
  done = done &&
         for_every_row(shape, &result->selection, q, k, v, result->o, result->lse, NULL, error) &&
         for_every_row(shape, &result->selection, q, k, v, NULL, NULL, low, error);
  if (done) {
    result->o_bound = error_bound(shape->dtype, result->o, low, count);
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

void reference_free(reference_result *result) {
  selection_free(&result->selection);
  free(result->o);
  free(result->lse);
  *result = (reference_result){0};
}

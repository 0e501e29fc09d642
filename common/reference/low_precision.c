#include "reference/low_precision.h"

#include "reference/reference.h"
#include <math.h>

// Computes one row; `o` holds all rows.
static void compute_row(const row_problem *row, void *all_o) {
  const int keys = row->keys, dim = row->dim;
  float *scores = (float *)row->scratch;
  const float *q = row->q;
  float *o = (float *)all_o + row->number * (size_t)dim;
  // 1. Q K^T, rounded; times scale, rounded.
  float row_max = -INFINITY;
  for (int key = 0; key < keys; key++) {
    const float *k = row->K + (size_t)key * (size_t)dim;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int d = 0; d < dim; d++) sum += q[d] * k[d];
    scores[key] = reference_round(row->dtype, row->scale * reference_round(row->dtype, sum));
    row_max = fmaxf(row_max, scores[key]);
  }
  // 2. Softmax in float32, its result rounded.
  float row_sum = 0;
  for (int key = 0; key < keys; key++) {
    scores[key] = expf(scores[key] - row_max);
    row_sum += scores[key];
  }
  for (int key = 0; key < keys; key++)
    scores[key] = reference_round(row->dtype, scores[key] / row_sum);
  // 3. P V, rounded.
  for (int d = 0; d < dim; d++) o[d] = 0;
  for (int key = 0; key < keys; key++) {
    const float *v = row->V + (size_t)key * (size_t)dim;
    const float weight = scores[key];
#pragma omp simd
    for (int d = 0; d < dim; d++) o[d] += weight * v[d];
  }
  for (int d = 0; d < dim; d++) o[d] = reference_round(row->dtype, o[d]);
}

bool low_precision_compute(const attention_shape *shape, const row_selection *selection,
                           const uint16_t *q, const uint16_t *k, const uint16_t *v, float *o,
                           error_text *error) {
  return rows_visit(shape, selection, q, k, v, "reference in 16 bits", compute_row, o, error);
}

#include "reference/rows.h"

#include "progress/progress.h"
#include "reference/reference.h"
#include "shape/shape.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>

static float *to_floats(attention_dtype dtype, const uint16_t *bits, size_t count) {
  float *values = malloc(count * sizeof *values);
  if (!values) return NULL;
#pragma omp parallel for
  for (size_t i = 0; i < count; i++) values[i] = reference_value(dtype, bits[i]);
  return values;
}

static float *norms_of(const float *matrix, size_t rows, size_t dim) {
  float *norms = matrix ? malloc(rows * sizeof *norms) : NULL;
  if (!norms) return NULL;
#pragma omp parallel for
  for (size_t row = 0; row < rows; row++) {
    double sum = 0;
    for (size_t d = 0; d < dim; d++) {
      const double value = (double)matrix[row * dim + d];
      sum += value * value;
    }
    norms[row] = (float)sqrt(sum);
  }
  return norms;
}

size_t rows_count(const attention_shape *shape, const row_selection *selection) {
  return (size_t)shape->batch * (size_t)shape->heads * selection_count(selection, shape);
}

bool rows_visit(const attention_shape *shape, const row_selection *selection,
                const uint16_t *q_bits, const uint16_t *k_bits, const uint16_t *v_bits,
                const char *label, void (*visit)(const row_problem *row, void *context),
                void *context, error_text *error) {
  const size_t dim = (size_t)shape->head_dim;
  const size_t rows = rows_count(shape, selection);
  const size_t room = (size_t)shape->seq_kv + dim;
  float *q = to_floats(shape->dtype, q_bits, shape_q_count(shape));
  float *k = to_floats(shape->dtype, k_bits, shape_kv_count(shape));
  float *v = to_floats(shape->dtype, v_bits, shape_kv_count(shape));
  float *k_norm = norms_of(k, shape_kv_count(shape) / dim, dim);
  double *scratch = malloc((size_t)omp_get_max_threads() * room * sizeof *scratch);
  const bool enough = q && k && v && k_norm && scratch;

  if (enough) {
    progress bar = progress_start(label, rows);
    size_t done = 0;
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t row = 0; row < rows; row++) {
      const size_t head = row / selection_count(selection, shape); // of batch * heads
      const size_t query = selection_row(selection, head, row % selection_count(selection, shape));
      const size_t group = (size_t)(shape->heads / shape->kv_heads);
      const size_t kv_head = head / (size_t)shape->heads * (size_t)shape->kv_heads +
                             head % (size_t)shape->heads / group;
      const size_t first_key = kv_head * (size_t)shape->seq_kv;
      const row_problem problem = {
          .dtype = shape->dtype,
          .scale = shape->scale,
          .keys = shape_visible_keys(shape, (int)query),
          .dim = (int)dim,
          .q = q + (head * (size_t)shape->seq_q + query) * dim,
          .K = k + first_key * dim,
          .V = v + first_key * dim,
          .K_norm = k_norm + first_key,
          .number = row,
          .scratch = scratch + (size_t)omp_get_thread_num() * room,
      };
      visit(&problem, context);
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
  free(k_norm);
  free(scratch);
  return enough;
}

// How far O is off: in the mean at most 1.1 times as far as with the ordinary softmax, which rounds probabilities of
// which the largest of a row is exactly 1. Step 17 rounds that one, too. This tells most where a few keys have most of
// the weight, so at a deviation of 3 the limit is 1.2. The bound of the checker is twice the error of a simple
// implementation, so a step that rounds more often, or divides by another sum than that of what it multiplies, would
// pass it.
#include "suite.h"

#include "numeric/float16.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
  double largest, mean; // mean: root of the mean square
} o_errors;

static float value_of(attention_dtype dtype, uint16_t bits) {
  return dtype == ATTENTION_FP16 ? fp16_to_float(bits) : bf16_to_float(bits);
}
static uint16_t bits_of(attention_dtype dtype, float value) {
  return dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
}

static o_errors errors_of(const trial *trial, const uint16_t *o) {
  const size_t count = shape_q_count(&trial->shape);
  o_errors errors = {0};
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double error = fabs((double)value_of(trial->shape.dtype, o[i]) - trial->reference.o[i]);
    errors.largest = fmax(errors.largest, error);
    sum += error * error;
  }
  errors.mean = sqrt(sum / (double)count);
  return errors;
}

// The elements as float64, which is exact. The loops below take most of the time of this test, so they work on these.
static double *values_of(attention_dtype dtype, const uint16_t *bits, size_t count) {
  double *values = malloc(count * sizeof *values);
  cr_assert_not_null(values);
  for (size_t i = 0; i < count; i++) values[i] = (double)value_of(dtype, bits[i]);
  return values;
}

static double dot(const double *a, const double *b, size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

// Computes O as the ordinary softmax does without any other rounding: P is rounded to 16 bits, and so is O.
static void ordinary_softmax(const trial *trial, uint16_t *o) {
  const attention_shape *shape = &trial->shape;
  const attention_dtype dtype = shape->dtype;
  const size_t keys = (size_t)shape->seq_kv, rows = (size_t)shape->seq_q;
  const size_t dim = (size_t)shape->head_dim;
  double *q = values_of(dtype, trial->q, shape_q_count(shape));
  double *k = values_of(dtype, trial->k, shape_kv_count(shape));
  double *v = values_of(dtype, trial->v, shape_kv_count(shape));
  double *p = malloc(keys * sizeof *p);
  double *sums = malloc(dim * sizeof *sums);
  cr_assert(p && sums);
  for (size_t row = 0; row < rows * (size_t)shape->heads; row++) {
    const size_t first_key = row / rows * keys;
    double max = -INFINITY, sum = 0;
    for (size_t key = 0; key < keys; key++) {
      p[key] = (double)shape->scale * dot(q + row * dim, k + (first_key + key) * dim, dim);
      max = fmax(max, p[key]);
    }
    for (size_t d = 0; d < dim; d++) sums[d] = 0;
    for (size_t key = 0; key < keys; key++) {
      const double exact = exp(p[key] - max);
      const double rounded = (double)value_of(dtype, bits_of(dtype, (float)exact));
      const double *values = v + (first_key + key) * dim;
      sum += exact;
#pragma omp simd
      for (size_t d = 0; d < dim; d++) sums[d] += rounded * values[d];
    }
    for (size_t d = 0; d < dim; d++) o[row * dim + d] = bits_of(dtype, (float)(sums[d] / sum));
  }
  free(q), free(k), free(v), free(p), free(sums);
}

// Scores of the standard deviation, in nats; if they rise, it is that of the last keys, and the first ones have none.
// The mean error is what tells: the largest of 8192 is different for other inputs by half of its size.
static void expect_ordinary_errors(attention_dtype dtype, float deviation, bool rising,
                                   int head_dim) {
  attention_shape shape = suite_shape(dtype, 128, 384, head_dim, false);
  shape.heads = shape.kv_heads = 1;
  if (suite_step().unsupported(&shape)) return;
  trial trial;
  suite_create(&trial, shape);
  const size_t dim = (size_t)shape.head_dim;
  for (int t = 0; t < 3; t++)
    inputs_fill(&shape, INPUTS_NORMAL, (inputs_tensor)t, 1,
                t == 0   ? trial.q
                : t == 1 ? trial.k
                         : trial.v);
  for (size_t i = 0; i < shape_kv_count(&shape); i++) {
    const size_t key = i / dim % (size_t)shape.seq_kv;
    const float part = rising ? (float)key / (float)(shape.seq_kv - 1) : 1.0f;
    trial.k[i] = bits_of(dtype, deviation * part * value_of(dtype, trial.k[i]));
  }
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  uint16_t *ordinary = malloc(shape_q_count(&shape) * sizeof *ordinary);
  cr_assert_not_null(ordinary);
  ordinary_softmax(&trial, ordinary);
  const o_errors step = errors_of(&trial, trial.o), usual = errors_of(&trial, ordinary);
  const double limit = deviation == 3 ? 1.2 : 1.1;
  cr_expect(step.mean <= limit * usual.mean,
            "deviation %g%s: the error is %.3g in the mean, with the ordinary softmax %.3g",
            (double)deviation, rising ? ", rising" : "", step.mean, usual.mean);
  cr_expect(step.largest <= 1.75 * usual.largest,
            "deviation %g%s: the largest error is %.3g, with the ordinary softmax %.3g",
            (double)deviation, rising ? ", rising" : "", step.largest, usual.largest);
  free(ordinary);
  trial_free(&trial);
}

static void expect_at_every_deviation(attention_dtype dtype) {
  static const float deviations[] = {1, 3, 8, 40};
  for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
    expect_ordinary_errors(dtype, deviations[i], false, 64);
    expect_ordinary_errors(dtype, deviations[i], false, 128);
    expect_ordinary_errors(dtype, deviations[i], true, 64);
    expect_ordinary_errors(dtype, deviations[i], true, 128);
  }
}

Test(errors, fp16) { expect_at_every_deviation(ATTENTION_FP16); }
Test(errors, bf16) { expect_at_every_deviation(suite_bf16()); }

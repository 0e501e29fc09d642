// Errors that are small in each element and too large in all of them together are told, and those of rounding are not,
// even where all probabilities of a row are rounded in the same direction.
#include "check/check.h"
#include "check/mean_error.h"
#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  attention_shape shape;
  uint16_t *q, *k, *v, *o;
  float *lse;
  reference_result reference;
} problem;

static uint16_t bits_of(attention_dtype dtype, double value) {
  return dtype == ATTENTION_FP16 ? fp16_from_float((float)value) : bf16_from_float((float)value);
}

static problem create(attention_shape shape) {
  problem p = {.shape = shape};
  p.q = malloc(shape_q_count(&shape) * sizeof *p.q);
  p.k = malloc(shape_kv_count(&shape) * sizeof *p.k);
  p.v = malloc(shape_kv_count(&shape) * sizeof *p.v);
  p.o = malloc(shape_q_count(&shape) * sizeof *p.o);
  p.lse = malloc(shape_lse_count(&shape) * sizeof *p.lse);
  cr_assert(p.q && p.k && p.v && p.o && p.lse);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_Q, 1, p.q);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_K, 1, p.k);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, p.v);
  return p;
}

static void compute(const problem *p, const attention_shape *shape, reference_result *result) {
  error_text error;
  cr_assert(reference_compute(shape, p->q, p->k, p->v, result, &error), "%s", error.text);
}

static void destroy(problem *p) {
  free(p->q), free(p->k), free(p->v), free(p->o), free(p->lse);
  reference_free(&p->reference);
}

// Checks the O of a step that does not see the last `lost` keys, and rounds O only.
static check_result check_without_keys(attention_dtype dtype, int lost, bool *right) {
  const attention_shape shape = {dtype, 1, 32, 1, 1, 65536, 64, false, 0.125f};
  problem p = create(shape);
  compute(&p, &shape, &p.reference);
  attention_shape fewer = shape;
  fewer.seq_kv -= lost;
  reference_result seen;
  compute(&p, &fewer, &seen);
  for (size_t i = 0; i < shape_q_count(&shape); i++) p.o[i] = bits_of(dtype, seen.o[i]);
  for (size_t i = 0; i < shape_lse_count(&shape); i++) p.lse[i] = (float)p.reference.lse[i];
  check_result result;
  *right = check_outputs(&shape, p.o, p.lse, &p.reference, &result);
  reference_free(&seen);
  destroy(&p);
  return result;
}

Test(mean_error, a_few_lost_keys_of_many) {
  bool right;
  check_result result = check_without_keys(ATTENTION_BF16, 0, &right);
  cr_expect(right && result.o_mean < 0.5, "%.3f: %s", result.o_mean, result.message.text);
  result = check_without_keys(ATTENTION_BF16, 8, &right);
  cr_expect(!right, "eight lost keys pass, with %.3f of the mean that is allowed", result.o_mean);
  cr_expect_lt(result.o_used, 0.5, "each element tells as well: %.3f", result.o_used);
  cr_expect(
      strstr(result.message.text, "O is wrong in many elements: each error of 2048 is within "),
      "%s", result.message.text);
}

// As a kernel that divides the probabilities by their sum and then rounds them. The scale is 0, so that all rows and all
// probabilities are equal, and so are their errors: those of 1 / 255 in bf16 are nearly the largest that there are. V has
// one sign.
Test(mean_error, probabilities_that_are_all_rounded_alike) {
  static const int keys[] = {3, 5, 9, 65, 129, 255, 1023};
  for (size_t n = 0; n < 2 * sizeof keys / sizeof keys[0]; n++) {
    const attention_dtype dtype = n % 2 ? ATTENTION_BF16 : ATTENTION_FP16;
    const attention_shape shape = {dtype, 1, 2, 2, 40, keys[n / 2], 64, false, 0.0f};
    problem p = create(shape);
    for (size_t i = 0; i < shape_kv_count(&shape); i++)
      p.v[i] = bits_of(dtype, 3 + (double)reference_value(dtype, p.v[i]) / 2);
    compute(&p, &shape, &p.reference);
    const double rounded = (double)reference_round(dtype, 1 / (float)shape.seq_kv);
    for (size_t i = 0; i < shape_q_count(&shape); i++)
      p.o[i] = bits_of(dtype, p.reference.o[i] * shape.seq_kv * rounded);
    for (size_t i = 0; i < shape_lse_count(&shape); i++) p.lse[i] = (float)p.reference.lse[i];
    check_result result;
    cr_expect(check_outputs(&shape, p.o, p.lse, &p.reference, &result), "%s: %s",
              shape_describe(&shape).text, result.message.text);
    cr_expect(result.o_mean > 0 && result.o_mean < 0.95, "%s: %.3f of what is allowed",
              shape_describe(&shape).text, result.o_mean);
    destroy(&p);
  }
}

Test(mean_error, of_few_elements_or_rows_tells_nothing) {
  mean_error mean = {0};
  for (int i = 0; i < 999; i++) mean_error_add(&mean, 2, 1);
  mean.rows = 16;
  cr_expect_eq(mean_error_root(&mean), 0);
  mean_error_add(&mean, 2, 1);
  cr_expect_eq(mean_error_root(&mean), 2);
  mean_error_add(&mean, 5, 0); // an element that no kernel computes in another way
  mean_error_add(&mean, 5e-20, 1e-20);
  mean_error_add(&mean, NAN, 1);
  cr_expect_eq(mean_error_root(&mean), 2);
  mean.rows = 15;
  cr_expect_eq(mean_error_root(&mean), 0);
}

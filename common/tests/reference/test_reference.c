// Compares the reference and its bound with answers that can be computed by hand.
#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "reference/reference.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static attention_shape small(int seq_q, int seq_kv, int head_dim, bool causal) {
  return (attention_shape){.batch = 1,
                           .heads = 1,
                           .kv_heads = 1,
                           .seq_q = seq_q,
                           .seq_kv = seq_kv,
                           .head_dim = head_dim,
                           .causal = causal,
                           .scale = 1.0f};
}

static reference_result compute(const attention_shape *shape, const float *q, const float *k,
                                const float *v) {
  uint16_t bits[3][64];
  const float *values[3] = {q, k, v};
  for (int t = 0; t < 3; t++) {
    const size_t count = t == 0 ? shape_q_count(shape) : shape_kv_count(shape);
    for (size_t i = 0; i < count; i++) bits[t][i] = fp16_from_float(values[t][i]);
  }
  reference_result result;
  error_text error;
  cr_assert(reference_compute(shape, bits[0], bits[1], bits[2], &result, &error), "%s", error.text);
  return result;
}

Test(reference, two_keys_by_hand) {
  const attention_shape shape = small(1, 2, 1, false);
  // Scores 0 and 2: weights 1 / (1 + e^2) and e^2 / (1 + e^2).
  reference_result result = compute(&shape, (float[]){2}, (float[]){0, 1}, (float[]){10, 20});
  const double weight = exp(2.0) / (1 + exp(2.0));
  cr_assert_float_eq(result.o[0], 10 * (1 - weight) + 20 * weight, 1e-12);
  cr_assert_float_eq(result.lse[0], log(1 + exp(2.0)), 1e-12);
  reference_free(&result);
}

Test(reference, causal_is_aligned_bottom_right) {
  // Two queries, three keys: row 0 sees keys 0 and 1, row 1 all. Equal scores: a plain mean.
  attention_shape shape = small(2, 3, 1, true);
  reference_result result =
      compute(&shape, (float[]){0, 0}, (float[]){0, 0, 0}, (float[]){3, 6, 12});
  cr_assert_float_eq(result.o[0], 4.5, 1e-12);
  cr_assert_float_eq(result.o[1], 7.0, 1e-12);
  reference_free(&result);

  // Three queries, one key: rows 0 and 1 see nothing.
  shape = small(3, 1, 1, true);
  result = compute(&shape, (float[]){1, 1, 1}, (float[]){1}, (float[]){5});
  for (int row = 0; row < 2; row++) {
    cr_assert_eq(result.o[row], 0.0);
    cr_assert(result.lse[row] == -INFINITY);
  }
  cr_assert_float_eq(result.o[2], 5.0, 1e-12);
  reference_free(&result);
}

Test(reference, query_heads_share_key_heads_in_order) {
  attention_shape shape = small(1, 1, 1, false);
  shape.batch = 2;
  shape.heads = 4;
  shape.kv_heads = 2;
  reference_result result = compute(&shape, (float[]){0, 0, 0, 0, 0, 0, 0, 0},
                                    (float[]){0, 0, 0, 0}, (float[]){1, 2, 3, 4});
  const double expected[] = {1, 1, 2, 2, 3, 3, 4, 4};
  for (int i = 0; i < 8; i++) cr_assert_float_eq(result.o[i], expected[i], 1e-12, "head %d", i);
  reference_free(&result);
}

Test(reference, does_not_overflow) {
  const attention_shape shape = small(1, 2, 1, false);
  reference_result result =
      compute(&shape, (float[]){60000}, (float[]){60000, -60000}, (float[]){1, -1});
  cr_assert_float_eq(result.o[0], 1.0, 1e-12);
  cr_assert(isfinite(result.lse[0]) && isfinite(result.o_bound));
  reference_free(&result);
}

// The rule must leave room for an honest kernel and none for a wrong one: a few fp16 roundings of
// values around 1, so a few times 2^-11.
Test(reference, the_bound_is_a_few_roundings) {
  attention_shape shape = small(256, 256, 64, false);
  shape.scale = 0.125f;
  for (int type = 0; type < 2; type++) {
    shape.dtype = type == 0 ? ATTENTION_FP16 : ATTENTION_BF16;
    uint16_t *tensors[3];
    for (int t = 0; t < 3; t++) {
      tensors[t] = malloc(shape_q_count(&shape) * sizeof(uint16_t));
      cr_assert_not_null(tensors[t]);
      inputs_fill(&shape, INPUTS_NORMAL, (inputs_tensor)t, 3, tensors[t]);
    }
    reference_result result;
    error_text error;
    cr_assert(reference_compute(&shape, tensors[0], tensors[1], tensors[2], &result, &error));
    const double rounding = type == 0 ? 0x1p-11 : 0x1p-8;
    cr_assert(result.o_bound > 0.5 * rounding && result.o_bound < 8 * rounding,
              "the bound is %g, that is %g roundings", result.o_bound, result.o_bound / rounding);
    reference_free(&result);
    for (int t = 0; t < 3; t++) free(tensors[t]);
  }
}

// Plain attention rounds the score of the first key, 2049, to that of the second one, and finds O = 1/4 in the first column.
// In the second one it is exact, but (0.1 + 0.3) - 0.3 is 2^-14 less than 0.1 in fp16.
Test(reference, the_bound_by_hand) {
  const attention_shape shape = small(1, 2, 2, false);
  reference_result result =
      compute(&shape, (float[]){1024, 1}, (float[]){2, 1, 2, 0}, (float[]){1, 0.1f, -0.5f, 0.1f});
  const double o = 1.5 * exp(1.0) / (1 + exp(1.0)) - 0.5;
  cr_assert_float_eq(result.o[0], o, 1e-12);
  cr_assert_float_eq(result.o_bound, 2 * (o - 0.25) + 2 * 0x1p-14, 1e-12);
  reference_free(&result);
}

// Plain attention rounds the products, and what they are after the scale, which is 3. In the first case it finds no
// difference between the keys, because of 2049; in the second one it finds 2 instead of 3, because of 3 * 683.
Test(reference, the_bound_has_the_rounding_of_scores) {
  attention_shape shape = small(1, 2, 2, false);
  shape.scale = 3;
  static const struct {
    float q[2], k[4];
    double difference; // between the scores of plain attention
  } cases[] = {{{1024, 1}, {2, 1, 2, 0}, 0}, {{1, 1}, {683, 0, 682, 0}, 2}};
  for (size_t i = 0; i < 2; i++) {
    reference_result result = compute(&shape, cases[i].q, cases[i].k, (float[]){64, 0, 0, 0});
    const double exact = 64 / (1 + exp(-3)), low = 64 / (1 + exp(-cases[i].difference));
    cr_expect_float_eq(result.o[0], exact, 1e-9);
    cr_expect_float_eq(result.o_bound, 2 * (exact - low), 0.2, "%g, not %g", result.o_bound,
                       2 * (exact - low));
    reference_free(&result);
  }
}

// In plain attention each probability of 1 / 5 is 1638 * 2^-13, three of them are 1228.5 * 2^-11, and that becomes 1228
// * 2^-11. The number nearest to 3 / 5 is 1229 * 2^-11.
Test(reference, the_bound_has_the_rounding_of_probabilities_and_of_their_sum) {
  const attention_shape shape = small(1, 5, 1, false);
  reference_result result =
      compute(&shape, (float[]){0}, (float[]){0, 0, 0, 0, 0}, (float[]){1, 1, 1, 0, 0});
  cr_expect_float_eq(result.o_bound, 2 * (0.6 - 1228 * 0x1p-11), 1e-12, "%g", result.o_bound);
  reference_free(&result);
}

// Nearest to 1 / 27 is an fp16 number so far above it that plain attention finds infinity in the first column.
Test(reference, an_overflow_of_plain_attention_does_not_widen_the_bound) {
  enum { KEYS = 27 };
  const attention_shape shape = small(1, KEYS, 2, false);
  float k[2 * KEYS] = {0}, v[2 * KEYS];
  for (size_t i = 0; i < 2 * KEYS; i++) v[i] = i % 2 ? 1 : 65504;
  reference_result result = compute(&shape, (float[]){0, 0}, k, v);
  cr_expect(result.o_bound > 0 && result.o_bound <= 3 * (double)result.o_mean[0], "%g",
            result.o_bound);
  for (size_t d = 0; d < 2; d++) cr_expect_leq((double)result.o_allowed[d], result.o_bound);
  reference_free(&result);
}

// Plain attention finds exactly 0, because its probabilities are rounded alike. In a kernel they need not be alike.
Test(reference, the_luck_of_plain_attention_does_not_narrow_the_bound) {
  enum { KEYS = 30 };
  const attention_shape shape = small(1, KEYS, 1, false);
  float k[KEYS] = {0}, v[KEYS];
  for (size_t i = 0; i < KEYS; i++) v[i] = i % 2 ? 1 : -1;
  reference_result result = compute(&shape, (float[]){0}, k, v);
  cr_expect_float_eq(result.o[0], 0, 1e-15);
  cr_expect_float_eq((double)result.o_allowed[0], 3 * (double)result.o_mean[0], 1e-9,
                     "%g, and the mean is %g", (double)result.o_allowed[0],
                     (double)result.o_mean[0]);
  cr_expect_eq(result.o_bound, (double)result.o_allowed[0]);
  reference_free(&result);
}

// Two keys have one score of 3.6e9 in row 1, so that any weights of theirs may be right. In row 0 all scores are 0.
Test(reference, a_range_of_each_ill_conditioned_row) {
  const attention_shape shape = small(2, 3, 1, false);
  reference_result result =
      compute(&shape, (float[]){0, 60000}, (float[]){60000, 60000, 0}, (float[]){1, -1, 100});
  cr_expect(!reference_ill_conditioned(&result, 0) && reference_ill_conditioned(&result, 1));
  cr_assert(result.o_low && result.o_high);
  cr_expect_float_eq((double)result.o_low[1], -1, 0.01);
  cr_expect_float_eq((double)result.o_high[1], 1, 0.01);
  reference_free(&result);
}

// In such a row the mean means nothing, so it does not widen the bound. Of plain attention, which overflows, only the
// rounding of 0.3 is left.
Test(reference, the_mean_of_an_ill_conditioned_row_does_not_widen_the_bound) {
  const attention_shape shape = small(1, 2, 1, false);
  reference_result result =
      compute(&shape, (float[]){60000}, (float[]){60000, 60000}, (float[]){1, -1});
  cr_assert(reference_ill_conditioned(&result, 0));
  cr_expect_gt(3 * result.o_mean[0], 1e-3f);
  cr_expect(result.o_bound > 0 && result.o_bound < 1e-4, "%g", result.o_bound);
  cr_expect_leq((double)result.o_allowed[0], result.o_bound);
  reference_free(&result);
}

// An error of 8 * 2^-24 * |q| |K[j]|, with the keys of its own head.
Test(reference, scores_are_as_uncertain_as_the_keys_are_large) {
  attention_shape shape = small(1, 2, 1, false);
  shape.heads = shape.kv_heads = 2;
  reference_result result =
      compute(&shape, (float[]){64, 64}, (float[]){1, 1, -512, -512}, (float[]){1, 2, 3, 4});
  cr_expect_eq(result.score_error[0], 0x1p-15f);
  cr_expect_eq(result.score_error[1], 0x1p-6f);
  cr_expect_eq(result.lse_error[1], 0x1p-6f);
  reference_free(&result);
}

// A sum over the keys is off by a part of its largest value on the way, which is 31 / 64 of 1000 here. O itself is 0.
Test(reference, the_mean_error_has_that_of_the_largest_sum) {
  enum { KEYS = 64 };
  const attention_shape shape = small(1, KEYS, 1, false);
  float k[KEYS] = {0}, v[KEYS];
  for (size_t i = 0; i < KEYS; i++) v[i] = i < KEYS / 2 ? -1000 : 1000;
  reference_result result = compute(&shape, (float[]){0}, k, v);
  const double unit = 0x1p-11, sums = 0x1p-21 + (32 + KEYS / 8) * 0x1p-24;
  const double weighted = 1000 * (1 + (sums + KEYS * 0x1p-25) / unit);
  const double rounded = 1.5 * sqrt((1000 * unit * 1000 * unit / KEYS + 2 * 0x1p-50) / 3);
  const double expected = rounded + 0x1p-21 * weighted + sums * 1000 * 31 / 64;
  cr_expect_float_eq((double)result.o_mean[0], expected, 1e-5 * expected, "%g, not %g",
                     (double)result.o_mean[0], expected);
  reference_free(&result);
}

// The sum over all keys is looked at as well, even where they are fewer than those between two looks.
Test(reference, the_mean_error_has_that_of_the_last_sum) {
  const attention_shape shape = small(1, 2, 1, false);
  reference_result result = compute(&shape, (float[]){0}, (float[]){0, 0}, (float[]){0, 1000});
  const double unit = 0x1p-11, sums = 0x1p-21 + (32 + 2 / 8.0) * 0x1p-24;
  const double weighted = 500 * (1 + sums / unit) + 1000 * 0x1p-25 / unit;
  const double rounded = 1.5 * sqrt((500 * unit * 500 * unit * 3 + 2 * 0x1p-50) / 3);
  const double expected = rounded + 0x1p-21 * (weighted + 500) + sums * (500 + 500);
  cr_expect_float_eq((double)result.o_mean[0], expected, 1e-5 * expected, "%g, not %g",
                     (double)result.o_mean[0], expected);
  reference_free(&result);
}

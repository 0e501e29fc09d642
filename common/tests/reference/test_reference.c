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

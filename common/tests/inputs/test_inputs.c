#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const attention_shape shape = {.batch = 2,
                                      .heads = 3,
                                      .kv_heads = 3,
                                      .seq_q = 100,
                                      .seq_kv = 100,
                                      .head_dim = 40,
                                      .scale = 0.158f};
enum { COUNT = 2 * 3 * 100 * 40 };

static uint16_t *fill(inputs_kind kind, inputs_tensor tensor, uint64_t seed) {
  uint16_t *bits = malloc(COUNT * sizeof *bits);
  cr_assert_not_null(bits);
  inputs_fill(&shape, kind, tensor, seed, bits);
  return bits;
}

Test(inputs, names_lead_to_kinds_and_back) {
  inputs_kind kind;
  for (int i = 0; i < INPUTS_KINDS; i++) {
    cr_assert(inputs_from_name(inputs_name((inputs_kind)i), &kind) && kind == (inputs_kind)i);
  }
  cr_assert(!inputs_from_name("gaussian", &kind));
}

Test(inputs, are_reproducible_and_finite) {
  for (int kind = 0; kind < INPUTS_KINDS; kind++) {
    for (int tensor = 0; tensor < 3; tensor++) {
      uint16_t *one = fill((inputs_kind)kind, (inputs_tensor)tensor, 5);
      uint16_t *again = fill((inputs_kind)kind, (inputs_tensor)tensor, 5);
      cr_assert(memcmp(one, again, COUNT * sizeof *one) == 0, "%s is not reproducible",
                inputs_name((inputs_kind)kind));
      bool all_zero = true;
      for (size_t i = 0; i < COUNT; i++) {
        const float value = fp16_to_float(one[i]);
        cr_assert(isfinite(value), "%s holds %g", inputs_name((inputs_kind)kind), (double)value);
        if (value != 0) all_zero = false;
      }
      cr_assert(!all_zero, "%s is all zeros", inputs_name((inputs_kind)kind));
      free(one);
      free(again);
    }
  }
}

Test(inputs, seeds_and_tensors_differ) {
  uint16_t *one = fill(INPUTS_NORMAL, INPUTS_Q, 5);
  uint16_t *other_seed = fill(INPUTS_NORMAL, INPUTS_Q, 6);
  uint16_t *other_tensor = fill(INPUTS_NORMAL, INPUTS_K, 5);
  size_t same_seed = 0, same_tensor = 0;
  for (size_t i = 0; i < COUNT; i++) {
    same_seed += one[i] == other_seed[i];
    same_tensor += one[i] == other_tensor[i];
  }
  cr_assert_lt(same_seed, COUNT / 100);
  cr_assert_lt(same_tensor, COUNT / 100);
  free(one);
  free(other_seed);
  free(other_tensor);
}

Test(inputs, normal_has_mean_0_and_deviation_1) {
  uint16_t *bits = fill(INPUTS_NORMAL, INPUTS_V, 11);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < COUNT; i++) {
    const double value = (double)fp16_to_float(bits[i]);
    sum += value;
    squares += value * value;
  }
  cr_assert_float_eq(sum / COUNT, 0.0, 0.03);
  cr_assert_float_eq(squares / COUNT, 1.0, 0.05);
  free(bits);
}

Test(inputs, limit_reaches_both_ends_of_fp16) {
  uint16_t *v = fill(INPUTS_LIMIT, INPUTS_V, 1);
  uint16_t *k = fill(INPUTS_LIMIT, INPUTS_K, 1);
  float largest = 0;
  size_t subnormal = 0;
  for (size_t i = 0; i < COUNT; i++) {
    largest = fmaxf(largest, fabsf(fp16_to_float(v[i])));
    subnormal += (k[i] & 0x7c00) == 0;
  }
  cr_assert_gt(largest, 65000.0f);
  cr_assert_gt(subnormal, COUNT / 2);
  free(v);
  free(k);
}

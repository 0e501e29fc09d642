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
  static const char *const others[] = {"gaussian", "", "norm", "normals", "Normal", "lime"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    cr_expect(!inputs_from_name(others[i], &kind), "%s", others[i]);
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

// The first random bits of Q are all 0 with this seed, and the logarithm of 0 is no number.
Test(inputs, the_largest_normal_number_is_finite) {
  uint16_t *bits = fill(INPUTS_NORMAL, INPUTS_Q, 0xc5deefb0344c1df5);
  cr_expect_float_eq((double)fp16_to_float(bits[0]), 6.429, 0.003, "%g",
                     (double)fp16_to_float(bits[0]));
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
  cr_assert_gt(subnormal, COUNT * 9 / 10);
  free(v);
  free(k);
}

// ---- What each kind is there to reveal ------------------------------------------------------------

static float at(const uint16_t *bits, size_t head, size_t row, size_t column) {
  return fp16_to_float(bits[(head * 100 + row) * 40 + column]);
}

Test(inputs, are_the_same_numbers_in_both_types) {
  attention_shape other = shape;
  other.dtype = ATTENTION_BF16;
  for (int kind = 0; kind < INPUTS_KINDS; kind++) {
    static uint16_t bf16[COUNT];
    uint16_t *fp16 = fill((inputs_kind)kind, INPUTS_V, 5);
    inputs_fill(&other, (inputs_kind)kind, INPUTS_V, 5, bf16);
    for (size_t i = 0; i < COUNT; i++) {
      const float expected = fp16_to_float(fp16[i]);
      cr_assert(fabsf(bf16_to_float(bf16[i]) - expected) <= fabsf(expected) / 200, "%s: %g, not %g",
                inputs_name((inputs_kind)kind), (double)bf16_to_float(bf16[i]), (double)expected);
    }
    free(fp16);
  }
}

// The numbers are those of their places in the tensor, whatever its shape. Every tensor is filled to its end, and no
// further.
Test(inputs, fill_a_tensor_of_any_shape) {
  const attention_shape flat = {ATTENTION_FP16, 1, 10, 5, 8, 12, 400, false, 0.05f};
  enum { Q_COUNT = 10 * 8 * 400, KV_COUNT = 5 * 12 * 400 };
  cr_assert_eq((int)KV_COUNT, (int)COUNT);
  for (int tensor = 0; tensor < 3; tensor++) {
    static uint16_t bits[Q_COUNT + 1];
    const size_t count = tensor == INPUTS_Q ? Q_COUNT : KV_COUNT;
    memset(bits, 0xff, sizeof bits);
    inputs_fill(&flat, INPUTS_NORMAL, (inputs_tensor)tensor, 5, bits);
    uint16_t *same = fill(INPUTS_NORMAL, (inputs_tensor)tensor, 5);
    cr_expect(memcmp(bits, same, COUNT * sizeof *same) == 0, "tensor %d", tensor);
    cr_expect(isfinite(fp16_to_float(bits[count - 1])), "tensor %d", tensor);
    cr_expect_eq(bits[count], 0xffff, "tensor %d", tensor);
    free(same);
  }
}

Test(inputs, large_is_normal_with_a_larger_q) {
  for (int tensor = 0; tensor < 3; tensor++) {
    uint16_t *normal = fill(INPUTS_NORMAL, (inputs_tensor)tensor, 5);
    uint16_t *large = fill(INPUTS_LARGE, (inputs_tensor)tensor, 5);
    for (size_t i = 0; i < COUNT; i++) {
      const float expected = fp16_to_float(normal[i]) * (tensor == INPUTS_Q ? 30 : 1);
      cr_assert(fabsf(fp16_to_float(large[i]) - expected) <= fabsf(expected) / 1024);
    }
    free(normal);
    free(large);
  }
}

Test(inputs, equal_has_one_row_in_each_head) {
  uint16_t *bits = fill(INPUTS_EQUAL, INPUTS_V, 5);
  for (size_t row = 0; row < 6 * 100; row++)
    cr_assert(memcmp(bits + row * 40, bits + row / 100 * 100 * 40, 40 * sizeof *bits) == 0);
  for (size_t head = 1; head < 6; head++)
    cr_expect(memcmp(bits, bits + head * 100 * 40, 40 * sizeof *bits) != 0, "head %zu", head);
  free(bits);
}

Test(inputs, onehot_has_one_large_element_in_a_row) {
  uint16_t *q = fill(INPUTS_ONEHOT, INPUTS_Q, 5), *k = fill(INPUTS_ONEHOT, INPUTS_K, 5);
  for (size_t i = 0; i < COUNT; i++)
    cr_assert_eq(fp16_to_float(q[i]), i / 40 % 100 % 40 == i % 40 ? 16 : 0);
  cr_expect(memcmp(q, k, COUNT * sizeof *q) == 0);
  free(q);
  free(k);
}

Test(inputs, ramp_differs_along_rows_columns_and_heads) {
  uint16_t *q = fill(INPUTS_RAMP, INPUTS_Q, 5), *v = fill(INPUTS_RAMP, INPUTS_V, 5);
  cr_expect(at(v, 0, 0, 0) == -1.5f && at(v, 0, 36, 0) == 0.5f && at(v, 0, 0, 28) == -0.5f &&
            at(v, 1, 0, 0) == -1.375f && at(v, 4, 36, 28) == 2);
  cr_expect(at(q, 0, 0, 0) == -1.5f && at(q, 0, 36, 0) == -0.5f && at(q, 0, 0, 28) == 0.5f &&
            at(q, 1, 0, 0) == -1.625f && at(q, 4, 36, 28) == 1);
  free(q);
  free(v);
}

Test(inputs, limit_has_both_signs) {
  uint16_t *v = fill(INPUTS_LIMIT, INPUTS_V, 1);
  size_t negative = 0;
  for (size_t i = 0; i < COUNT; i++) {
    cr_assert_geq(fabsf(fp16_to_float(v[i])), 32768.0f);
    negative += v[i] >> 15;
  }
  cr_expect(negative > COUNT * 2 / 5 && negative < COUNT * 3 / 5, "%zu", negative);
  free(v);
}

// Column 0 alone makes the scores rise. The other ones are normal.
Test(inputs, rising_has_all_cases_in_16_heads) {
  enum { ROWS = 600, HEADS = 16, DIM = 4 };
  static const double gains[8] = {17, 8, 40, 1, 66, 15.5, 16, 130}; // in log2, at the usual scale
  static uint16_t q[HEADS * ROWS * DIM], k[HEADS * ROWS * DIM];
  const attention_shape long_shape = {ATTENTION_FP16, 1,   HEADS, HEADS, ROWS,
                                      ROWS,           DIM, false, 0.5f};
  inputs_fill(&long_shape, INPUTS_RISING, INPUTS_Q, 5, q);
  inputs_fill(&long_shape, INPUTS_RISING, INPUTS_K, 5, k);
  for (size_t head = 0; head < HEADS; head++) {
    const size_t place = (head + head / 8) % 4;
    for (size_t row = 0; row < ROWS; row++) {
      const size_t i = (head * ROWS + row) * DIM;
      const bool gains_nothing = head >= 8 && row % 16 != 5 * head % 16;
      const double gain = (double)fp16_to_float(q[i]) * 0.5 / log(2);
      const double expected = gains_nothing ? 0 : gains[head % 8];
      cr_assert_float_eq(gain, expected, expected / 1000, "head %zu, row %zu: %g", head, row, gain);
      // At the first key of every 64, at the last, inside, or at one alone.
      const size_t passed = place == 0 ? row : place == 1 ? row + 1 : row + 27;
      const size_t times = place == 3 ? row == 400 : passed / 64 < 8 ? passed / 64 : 8;
      cr_assert_eq(fp16_to_float(k[i]), (float)times, "head %zu, row %zu", head, row);
    }
  }
}

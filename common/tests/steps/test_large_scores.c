// Scores far beyond those of a model, as long as float32 holds them. There a product of the row max is off by far
// more than 1, and only the difference of two scores says what their probabilities are.
#define _GNU_SOURCE
#include "suite.h"

#include "numeric/float16.h"
#include "tests/scores.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static uint16_t bits_of(attention_dtype dtype, float value) {
  return dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
}

static void expect_right(attention_shape shape, float largest, score_pattern *pattern,
                         rows_of_lane rows) {
  shape = scores_shape(shape, largest);
  if (suite_step().unsupported(&shape)) return;
  trial trial;
  suite_create(&trial, shape);
  scores_fill(&trial, largest, pattern, rows);
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

// A trial whose Q and K are zeros.
static void create_zeros(trial *trial, attention_shape shape) {
  suite_create(trial, shape);
  memset(trial->q, 0, shape_q_count(&shape) * sizeof *trial->q);
  memset(trial->k, 0, shape_kv_count(&shape) * sizeof *trial->k);
}

// A problem in which all scores are nearly q * k times the scale, and rise by `rise` times the scale from block to block.
typedef struct {
  float q, k, rise, scale;
} rising_problem;

// The sums of the blocks before count where scores rise so slowly, and each new row max scales them by a factor near 1.
static void expect_right_where_it_rises(attention_dtype dtype, rising_problem problem) {
  trial trial;
  attention_shape shape = suite_shape(dtype, 20, 270, 64, false);
  shape.heads = shape.kv_heads = 1;
  shape.scale = problem.scale;
  if (suite_step().unsupported(&shape)) return;
  create_zeros(&trial, shape);
  for (int row = 0; row < shape.seq_q; row++) {
    trial.q[row * shape.head_dim] = bits_of(dtype, problem.q);
    trial.q[row * shape.head_dim + 1] = bits_of(dtype, problem.rise);
  }
  for (int key = 0; key < shape.seq_kv; key++) {
    trial.k[key * shape.head_dim] = bits_of(dtype, problem.k);
    trial.k[key * shape.head_dim + 1] = bits_of(dtype, (float)(key / 64));
  }
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

static void expect_right_up_to(attention_dtype dtype, const float *scores, size_t count) {
  for (size_t i = 0; i < count; i++) {
    expect_right(suite_shape(dtype, 5, 1, 64, false), scores[i], scores_all_tied, BOTH_ROWS);
    for (size_t p = 0; p < SCORE_PATTERNS; p++) {
      attention_shape one_head = suite_shape(dtype, 20, 270, 64, (i + p) % 2);
      one_head.heads = one_head.kv_heads = 1;
      expect_right(one_head, scores[i], score_patterns[p], (rows_of_lane)((i + p) % ROWS));
    }
    attention_shape one_head = suite_shape(dtype, 20, 270, 64, false);
    one_head.heads = one_head.kv_heads = 1;
    expect_right(one_head, scores[i], scores_every_third_tied, FIRST_ROW);
    expect_right(one_head, scores[i], scores_every_third_tied, SECOND_ROW);
  }
  // Steps that split the keys merge more parts than they load at once, and the first part has the largest score.
  attention_shape many_keys = suite_shape(dtype, 3, 2500, 64, false);
  many_keys.heads = many_keys.kv_heads = 1;
  expect_right(many_keys, scores[0], scores_one_key_at_the_start, BOTH_ROWS);
  // Scores of about 2^20: the products of Q and K are whole numbers below 2^24.
  expect_right_where_it_rises(dtype, (rising_problem){0x1p12f, 0x1p11f, 1.0f, 0.125f});
  // Only the scale makes scores large: the products of Q and K are about 2^10, and rise by the last of their 24 bits.
  expect_right_where_it_rises(dtype, (rising_problem){0x1p5f, 0x1p5f, 0x1p-13f, 0x1p24f});
  // Another configuration of steps that choose by the shape.
  expect_right(suite_shape(dtype, 260, 400, 128, false), scores[count - 1], scores_rising,
               BOTH_ROWS);
}

// All scores are 216 * 216 nats, so all keys count the same, and the values of one half cancel those of the other. The
// row max times the scale is rounded. A compiler that leaves out one of two such roundings, because it fuses a product
// with a subtraction, makes the factor of a max that stays differ from 1: 2^0.004 here, so that earlier blocks count
// more.
static void expect_equal_weights(attention_dtype dtype, int head_dim) {
  trial trial;
  attention_shape shape = suite_shape(dtype, 20, 4096, head_dim, false);
  shape.batch = shape.heads = shape.kv_heads = 1;
  shape.scale = 1.0f;
  if (suite_step().unsupported(&shape)) return;
  create_zeros(&trial, shape);
  for (int row = 0; row < shape.seq_q; row++) trial.q[row * head_dim] = bits_of(dtype, 216.0f);
  for (int key = 0; key < shape.seq_kv; key++) {
    trial.k[key * head_dim] = bits_of(dtype, 216.0f);
    for (int d = 0; d < head_dim; d++)
      trial.v[key * head_dim + d] = bits_of(dtype, key < shape.seq_kv / 2 ? 1.0f : -1.0f);
  }
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

Test(large_scores, equal_ones_in_many_blocks) {
  for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
    expect_equal_weights((attention_dtype)dtype, 64);
    expect_equal_weights((attention_dtype)dtype, 128);
  }
}

// The scores are 0 for 128 keys, and then 4128 * 4128 nats for 256 keys, of which one half cancels the other. The row max
// times the scale is off by 0.3. A step that subtracts this product may not do so in some key blocks alone, which would
// count 1.3 times as much as the others or less. All this is so in the first or in the last eight of sixteen rows, which
// the lanes of a warp have as their first or second row; the other rows have zeros. Scores that are large in the first key
// block would not do: step 17 then keeps to the ordinary softmax for the whole tile.
static void expect_equal_weights_in(attention_dtype dtype, int head_dim, bool first_rows) {
  trial trial;
  attention_shape shape = suite_shape(dtype, 20, 384, head_dim, false);
  shape.batch = shape.heads = shape.kv_heads = 1;
  shape.scale = 1.0f;
  if (suite_step().unsupported(&shape)) return;
  create_zeros(&trial, shape);
  for (int row = 0; row < shape.seq_q; row++)
    if ((row % 16 < 8) == first_rows) trial.q[row * head_dim] = bits_of(dtype, 4128.0f);
  for (int key = 0; key < shape.seq_kv; key++) {
    trial.k[key * head_dim] = bits_of(dtype, key < 128 ? 0.0f : 4128.0f);
    for (int d = 0; d < head_dim; d++)
      trial.v[key * head_dim + d] = bits_of(dtype, key < 256 ? 1.0f : -1.0f);
  }
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

Test(large_scores, equal_ones_behind_small_ones) {
  for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
    for (int head_dim = 64; head_dim <= 128; head_dim += 64) {
      expect_equal_weights_in((attention_dtype)dtype, head_dim, true);
      expect_equal_weights_in((attention_dtype)dtype, head_dim, false);
    }
  }
}

// Each row has two keys that count, far apart, whose scores of about 6e5 differ by 1: the first one has e times the weight
// of the other. The scores are whole numbers, which float32 holds. The row max times the scale is rounded, and a step that
// sums up P over the two keys apart, with a max of each, must use the same rounded products to scale the sums to one max.
// Otherwise the weights are off by up to 4 %.
static void expect_e_to_one(attention_dtype dtype) {
  trial trial;
  attention_shape shape = suite_shape(dtype, 40, 2500, 64, false);
  shape.heads = shape.kv_heads = 1;
  shape.scale = 1.0f;
  if (suite_step().unsupported(&shape)) return;
  suite_create(&trial, shape);
  memset(trial.v, 0, shape_kv_count(&shape) * sizeof *trial.v);
  for (int row = 0; row < shape.seq_q; row++)
    for (int d = 0; d < 64; d++)
      trial.q[row * 64 + d] = bits_of(dtype, d == 0 ? (float)(100 + row) : d == 63 ? 1.0f : 100.0f);
  for (int key = 0; key < shape.seq_kv; key++)
    for (int d = 0; d < 64; d++)
      trial.k[key * 64 + d] = bits_of(dtype, d < 63        ? 100.0f
                                             : key == 5    ? 1.0f
                                             : key == 2400 ? 0.0f
                                                           : -2000.0f);
  for (int d = 0; d < 64; d++) trial.v[5 * 64 + d] = bits_of(dtype, 1.0f);
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  const float expected = 1.0f / (1.0f + expf(-1.0f)),
              allowed = dtype == ATTENTION_FP16 ? 0.0015f : 0.008f; // of a P and an O
  for (size_t i = 0; i < shape_q_count(&shape); i++) {
    const float o = dtype == ATTENTION_FP16 ? fp16_to_float(trial.o[i]) : bf16_to_float(trial.o[i]);
    cr_assert_float_eq(o, expected, allowed, "row %zu: O is %g, and %g would be right", i / 64, o,
                       expected);
  }
  trial_free(&trial);
}

Test(large_scores, keys_far_apart) {
  for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++)
    expect_e_to_one((attention_dtype)dtype);
  attention_step step = step_linked();
  error_text error;
  if (getenv("LAB_CONFIG") || !step_configure(&step, ":8", &error))
    return; // it does not split the keys
  setenv("LAB_CONFIG", ":8", 1);
  for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++)
    expect_e_to_one((attention_dtype)dtype);
}

// 2^20 and 2^28 are where steps 07 to 17 begin to subtract the row max otherwise, and where a product is off by 16.
Test(large_scores, fp16) {
  static const float scores[] = {7e5f, 8e5f, 3e8f, 5e8f, 2e9f, 1e10f, 1e15f};
  expect_right_up_to(ATTENTION_FP16, scores, sizeof scores / sizeof scores[0]);
}

Test(large_scores, bf16) {
  static const float scores[] = {7e5f, 8e5f, 3e9f, 1e10f, 1e20f, 1e30f, 2e38f};
  expect_right_up_to(ATTENTION_BF16, scores, sizeof scores / sizeof scores[0]);
}

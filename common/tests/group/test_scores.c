// Scores that are not those of a model: the steps for several GPUs have a softmax that keeps an old row max as long as it
// can (common/kernel/lazy_max.cuh), and whether it may is decided by the largest scores of the rows of a warp.
#include "suite.h"

#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "shape/shape.h"
#include "tests/left_out.h"
#include "tests/scores.h"
#include <criterion/criterion.h>

enum { RANKS = 2 };

// Values are normal numbers times `value`, for which bf16 is wide enough.
static void expect_right_with_values(attention_shape shape, float largest, score_pattern *pattern,
                                     rows_of_lane rows, float value) {
  const attention_step step = group_suite_step();
  shape = scores_shape(shape, largest);
  trial trial;
  error_text error;
  if (group_suite_gpus() < RANKS || left_out(step.unsupported(&shape)) ||
      !group_supported(&step, &shape, RANKS, &error))
    return;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  scores_fill(&trial, largest, pattern, rows);
  if (shape.dtype == ATTENTION_BF16)
    for (size_t i = 0; i < shape_kv_count(&shape); i++)
      trial.v[i] = bf16_from_float(value * bf16_to_float(trial.v[i]));
  cr_assert(trial_reference(&trial, &error), "%s", error.text);
  group_suite_run_and_check(&step, &trial, RANKS);
  trial_free(&trial);
}

static void expect_right(attention_shape shape, float largest, score_pattern *pattern,
                         rows_of_lane rows) {
  expect_right_with_values(shape, largest, pattern, rows, 1.0f);
}

// Either head_dim, as steps scale O in another way where it has 128 columns. The second rank has few rows, or none.
static void expect_right_up_to(attention_dtype dtype, const float *scores, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t p = 0; p < SCORE_PATTERNS; p++) {
      const int head_dim = (i + p) % 2 ? 64 : 128;
      attention_shape shape = group_suite_shape(dtype, 20, 400, head_dim, false);
      shape.heads = shape.kv_heads = 1;
      expect_right(shape, scores[i], score_patterns[p], (rows_of_lane)((i + p / 2) % ROWS));
    }
    attention_shape shape = group_suite_shape(dtype, 20, 400, 64, false);
    shape.heads = shape.kv_heads = 1;
    expect_right(shape, scores[i], scores_every_third_tied, FIRST_ROW);
    expect_right(shape, scores[i], scores_every_third_tied, SECOND_ROW);
  }
  expect_right(group_suite_shape(dtype, 150, 400, 128, false), scores[count - 1], scores_rising,
               BOTH_ROWS);
}

Test(large_scores, fp16) {
  static const float scores[] = {8e5f, 3e8f, 1e15f};
  expect_right_up_to(ATTENTION_FP16, scores, sizeof scores / sizeof scores[0]);
}

Test(large_scores, bf16) {
  static const float scores[] = {8e5f, 3e8f, 2e38f};
  expect_right_up_to(ATTENTION_BF16, scores, sizeof scores / sizeof scores[0]);
}

// One key beats those before it by 2^63 or by 2^100. Products of the smaller number and such values are not too large for
// float32, but those of the larger one are: there the row max must not stay.
Test(large_scores, bf16_with_large_values) {
  static const float scores[] = {63.0f * 0.693147f, 100.0f * 0.693147f};
  for (int i = 0; i < 4; i++) {
    attention_shape shape = group_suite_shape(ATTENTION_BF16, 20, 400, i < 2 ? 64 : 128, false);
    shape.heads = shape.kv_heads = 1;
    expect_right_with_values(shape, scores[i % 2], score_patterns[SCORE_PATTERNS - 1], BOTH_ROWS,
                             0x1p40f);
  }
}

// Scores that rise by 1 to 130 in log2, in rows by themselves and in all rows of a warp, with enough keys for three
// blocks. The old row max is good for 2^15 in one type, and for 2^64 in the other.
static void expect_right_where_scores_rise(attention_dtype dtype, int head_dim) {
  const attention_step step = group_suite_step();
  attention_shape shape = group_suite_shape(dtype, 40, 330, head_dim, false);
  shape.heads = shape.kv_heads = 16;
  trial trial;
  error_text error;
  if (group_suite_gpus() < RANKS || left_out(step.unsupported(&shape)) ||
      !group_supported(&step, &shape, RANKS, &error))
    return;
  cr_assert(trial_create(&trial, &shape, &error), "%s", error.text);
  inputs_fill(&shape, INPUTS_RISING, INPUTS_Q, 1, trial.q);
  inputs_fill(&shape, INPUTS_RISING, INPUTS_K, 1, trial.k);
  inputs_fill(&shape, INPUTS_RISING, INPUTS_V, 1, trial.v);
  cr_assert(trial_reference(&trial, &error), "%s", error.text);
  group_suite_run_and_check(&step, &trial, RANKS);
  trial_free(&trial);
}

Test(inputs, rising) {
  for (int head_dim = 64; head_dim <= 128; head_dim *= 2) {
    expect_right_where_scores_rise(ATTENTION_FP16, head_dim);
    expect_right_where_scores_rise(ATTENTION_BF16, head_dim);
  }
}

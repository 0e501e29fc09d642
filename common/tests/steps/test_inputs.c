// A step is right for every kind of numbers; each kind reveals a different mistake (inputs/inputs.h).
#define _GNU_SOURCE
#include "suite.h"

#include "device/device.h"
#include "numeric/float16.h"
#include "tests/tested_as.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_right_on(inputs_kind kind) {
  for (int causal = 0; causal <= 1; causal++) {
    suite_expect_right(suite_shape(ATTENTION_FP16, 130, 130, 64, causal), kind);
    suite_expect_right(suite_shape(ATTENTION_BF16, 130, 130, 64, causal), kind);
    suite_expect_right(suite_shape(ATTENTION_FP16, 70, 150, 40, causal), kind);
  }
}

Test(inputs, normal) { expect_right_on(INPUTS_NORMAL); }
Test(inputs, large) { expect_right_on(INPUTS_LARGE); }
Test(inputs, equal) { expect_right_on(INPUTS_EQUAL); }
Test(inputs, onehot) { expect_right_on(INPUTS_ONEHOT); }
Test(inputs, ramp) { expect_right_on(INPUTS_RAMP); }
Test(inputs, limit) { expect_right_on(INPUTS_LIMIT); }

// Scores that rise by 1 to 130 in log2, in rows by themselves and in all rows of a warp, at the first key of a block,
// at its last and inside; with enough keys for five blocks. Steps scale O in another way where it has 128 columns, so one
// type has these. The second shape has more rows, for steps that
// choose another configuration there, and the heads that rise by 17, 8, 40 and 1.
Test(inputs, rising) {
  for (int type = ATTENTION_FP16; type <= ATTENTION_BF16; type++) {
    const int head_dim = type == ATTENTION_FP16 ? 64 : 128;
    attention_shape few_rows = suite_shape((attention_dtype)type, 40, 330, head_dim, false);
    few_rows.heads = few_rows.kv_heads = 16;
    suite_expect_right(few_rows, INPUTS_RISING);
    attention_shape many_rows = suite_shape((attention_dtype)type, 260, 400, 128, false);
    many_rows.batch = 2; // the other half of the heads is batch entry 1
    suite_expect_right(many_rows, INPUTS_RISING);
  }
}

// In steps 15 to 17 a thread block takes one tile after the other: here from heads in which the scores of all rows rise,
// and from heads in which those of few rows do. Step 17 is wary for 64 tiles after a hard one. On the emulator its thread
// block has more tiles than that, so it also tries again. Each configuration has another number of warp groups.
Test(inputs, hard_and_easy_tiles_in_turn) {
  const attention_step step = step_linked();
  if (tested_number(step.name) < 15 || tested_number(step.name) > 17) return;
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  device_info device;
  error_text error;
  cr_assert(device_open(&device, &error), "%s", error.text);
  for (const char *const *known = step.configurations(); *known; known++) {
    setenv("LAB_CONFIG", *known, 1);
    for (int type = ATTENTION_FP16; type <= ATTENTION_BF16; type++) {
      attention_shape shape =
          suite_shape((attention_dtype)type, 70, 330, type == ATTENTION_FP16 ? 64 : 128, false);
      const int emulated = tested_number(step.name) == 17 ? 80 : 16; // heads
      shape.heads = shape.kv_heads = suite_emulated() ? emulated : 4 * device.multiprocessors;
      suite_expect_right(shape, INPUTS_RISING);
    }
  }
}

// Bits of a value in the shape's type.
static uint16_t bits_of(const attention_shape *shape, float value) {
  return shape->dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
}

// In step 17 the first block of a tile tells how a warp group takes the tile, and its four warps must agree about that.
// Here the scores rise past every limit inside of a block, but only in the 16 rows of one warp, another one in each head,
// and in every fifth head in no row. A thread block takes one tile after the other, and all configurations are tried.
Test(inputs, rows_of_one_warp_rise) {
  attention_step step = step_linked();
  const int number = tested_number(step.name);
  if (number != 17 && number != 24 && number != 26) return;
  setenv("EMU_MULTIPROCESSORS", "1", 1);
  for (const char *const *known = step.configurations(); *known; known++) {
    setenv("LAB_CONFIG", *known, 1);
    for (int type = ATTENTION_FP16; type <= ATTENTION_BF16; type++) {
      attention_shape shape =
          suite_shape((attention_dtype)type, 140, 330, type == ATTENTION_FP16 ? 64 : 128, false);
      shape.heads = shape.kv_heads = 10;
      shape.scale = type == ATTENTION_FP16 ? 14.0f : 60.0f; // by so much a score rises, in nats
      if (suite_step().unsupported(&shape)) continue;
      trial trial;
      suite_create(&trial, shape);
      memset(trial.q, 0, shape_q_count(&shape) * sizeof *trial.q);
      memset(trial.k, 0, shape_kv_count(&shape) * sizeof *trial.k);
      for (int row = 0; row < shape.heads * shape.seq_q; row++)
        trial.q[row * shape.head_dim] =
            bits_of(&shape, row % shape.seq_q / 16 % 4 == row / shape.seq_q % 5);
      for (int key = 0; key < shape.heads * shape.seq_kv; key++)
        trial.k[key * shape.head_dim] = bits_of(&shape, (float)(key % shape.seq_kv / 32));
      inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
      suite_upload(&trial);
      suite_run_and_check(&trial, NULL);
      trial_free(&trial);
    }
  }
}

// One key, in the fourth block of 64, beats all before it by `log2_gain`, and those around it by three times as much.
// Values are normal numbers times `value`.
static void expect_right_after_a_gain(attention_dtype dtype, double log2_gain, float value) {
  enum { BEST = 200 };
  attention_shape shape = suite_shape(dtype, 20, 270, 64, false);
  shape.heads = shape.kv_heads = 1;
  shape.scale = (float)(log2_gain * 0.6931471805599453); // the score of the best key, in nats
  if (suite_step().unsupported(&shape)) return;
  trial trial;
  suite_create(&trial, shape);
  memset(trial.q, 0, shape_q_count(&shape) * sizeof *trial.q);
  memset(trial.k, 0, shape_kv_count(&shape) * sizeof *trial.k);
  for (int row = 0; row < shape.seq_q; row++)
    trial.q[row * shape.head_dim] = bits_of(&shape, row % 16 == 5);
  for (int key = 128; key < shape.seq_kv; key++)
    trial.k[key * shape.head_dim] = bits_of(&shape, key == BEST ? 1.0f : -2.0f);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
  if (dtype == ATTENTION_BF16)
    for (size_t i = 0; i < shape_kv_count(&shape); i++)
      trial.v[i] = bf16_from_float(value * bf16_to_float(trial.v[i]));
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

// Up to the largest probability that the element type holds, and past it: what is 2^15.9999 rounds to infinity in fp16.
Test(inputs, one_key_far_above_those_before) {
  static const double gains[] = {14.99, 15.01, 15.9999,  16.01, 17,  63.99,
                                 64.01, 126.9, 127.9999, 128.1, 140, 1000};
  for (size_t i = 0; i < sizeof gains / sizeof gains[0]; i++) {
    expect_right_after_a_gain(ATTENTION_FP16, gains[i], 1.0f);
    expect_right_after_a_gain(ATTENTION_BF16, gains[i], 1.0f);
  }
  // Products of such probabilities and such values are not too large for float32, but those of 2^100 are.
  expect_right_after_a_gain(ATTENTION_BF16, 100.0, 0x1p40f);
  expect_right_after_a_gain(ATTENTION_BF16, 63.0, 0x1p40f);
}

// Every score is -384, so a row max that starts at 0 instead of -infinity makes all exponentials vanish. The same holds
// for the row max of a part that a step merges, and each configuration merges in its own way.
static void expect_right_far_below_zero(attention_dtype dtype) {
  attention_shape shape = suite_shape(dtype, 70, 210, dtype == ATTENTION_FP16 ? 64 : 128, false);
  shape.scale = 384.0f / (float)shape.head_dim;
  if (suite_step().unsupported(&shape)) return;
  trial trial;
  suite_create(&trial, shape);
  for (size_t i = 0; i < shape_q_count(&shape); i++) trial.q[i] = bits_of(&shape, 1.0f);
  for (size_t i = 0; i < shape_kv_count(&shape); i++) trial.k[i] = bits_of(&shape, -1.0f);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
  suite_upload(&trial);
  suite_run_and_check(&trial, NULL);
  trial_free(&trial);
}

Test(inputs, all_scores_far_below_zero) {
  expect_right_far_below_zero(ATTENTION_FP16);
  expect_right_far_below_zero(ATTENTION_BF16);
  const attention_step step = step_linked();
  for (const char *const *known = step.configurations ? step.configurations() : NULL;
       known && *known; known++) {
    setenv("LAB_CONFIG", *known, 1);
    expect_right_far_below_zero(ATTENTION_FP16);
    expect_right_far_below_zero(ATTENTION_BF16);
  }
}

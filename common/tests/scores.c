#include "tests/scores.h"

#include "inputs/inputs.h"
#include "numeric/float16.h"
#include "shape/shape.h"

#include <math.h>
#include <string.h>

float scores_all_tied(int key, int keys) { return (void)key, (void)keys, 1.0f; }
float scores_one_key_at_the_start(int key, int keys) { return (void)keys, key == 1; }
// Half as large, three quarters, whole, block after block of 64, and then half again.
float scores_rising(int key, int keys) {
  static const float levels[] = {0.5f, 0.75f, 1.0f, 0.5f};
  return (void)keys, levels[key / 64 % 4];
}
// Three quarters are no power of two, so that the row max times the scale is rounded.
float scores_every_third_tied(int key, int keys) {
  return (void)keys, key % 3 == 0 ? 0.75f : 0.25f;
}
// Of an even number of keys the last one is odd, and the one before even: they are the two halves of a register.
static float one_key_at_the_end(int key, int keys) { return key == keys - 2; }
static float last_key(int key, int keys) { return key == keys - 1; }
static float all_tied_below_zero(int key, int keys) { return (void)key, (void)keys, -1.0f; }
static float one_key_above_negative_ones(int key, int keys) {
  return key == keys / 2 ? -0.5f : -1.0f;
}

score_pattern *const score_patterns[SCORE_PATTERNS] = {
    one_key_at_the_end, scores_one_key_at_the_start, scores_all_tied,         all_tied_below_zero,
    scores_rising,      one_key_above_negative_ones, scores_every_third_tied, last_key};

static uint16_t bits_of(attention_dtype dtype, float value) {
  return dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
}

// The largest element of Q and K: a power of two, of which the type holds the largest score's root.
static float factor_of(attention_dtype dtype, float largest) {
  const float root = exp2f(floorf(log2f(largest) / 2));
  return dtype == ATTENTION_FP16 ? fminf(root, 16384.0f) : root;
}

attention_shape scores_shape(attention_shape shape, float largest) {
  const float factor = factor_of(shape.dtype, largest);
  shape.scale = largest / (factor * factor);
  return shape;
}

void scores_fill(trial *trial, float largest, score_pattern *pattern, rows_of_lane rows) {
  const attention_shape shape = trial->shape;
  const size_t dim = (size_t)shape.head_dim;
  const float factor = factor_of(shape.dtype, largest);
  const int all_rows = shape.batch * shape.heads * shape.seq_q;
  const int all_keys = shape.batch * shape.kv_heads * shape.seq_kv;
  memset(trial->q, 0, shape_q_count(&shape) * sizeof *trial->q);
  memset(trial->k, 0, shape_kv_count(&shape) * sizeof *trial->k);
  for (int row = 0; row < all_rows; row += 2)
    if (rows == BOTH_ROWS || row % shape.seq_q / 8 % 2 == (rows == SECOND_ROW))
      trial->q[(size_t)row * dim] = bits_of(shape.dtype, factor);
  for (int key = 0; key < all_keys; key++)
    trial->k[(size_t)key * dim] =
        bits_of(shape.dtype, factor * pattern(key % shape.seq_kv, shape.seq_kv));
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial->v);
}

// The checker passes rounding and nothing else: right kernels pass with room to spare, on inputs of every
// kind and on numbers such as real models have; wrong kernels fail, even if they are only slightly wrong.
#include "check/check.h"
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

static attention_shape make_shape(attention_dtype dtype, int seq_q, int seq_kv, bool causal) {
  return (attention_shape){dtype, 1, 2, 2, seq_q, seq_kv, 64, causal, 0.125f};
}

static problem create(attention_shape shape) {
  problem p = {.shape = shape};
  p.q = malloc(shape_q_count(&shape) * sizeof *p.q);
  p.k = malloc(shape_kv_count(&shape) * sizeof *p.k);
  p.v = malloc(shape_kv_count(&shape) * sizeof *p.v);
  p.o = malloc(shape_q_count(&shape) * sizeof *p.o);
  p.lse = malloc(shape_lse_count(&shape) * sizeof *p.lse);
  cr_assert(p.q && p.k && p.v && p.o && p.lse);
  return p;
}

static void compute_reference(problem *p) {
  error_text error;
  cr_assert(reference_compute(&p->shape, p->q, p->k, p->v, &p->reference, &error), "%s",
            error.text);
}

static void destroy(problem *p) {
  free(p->q);
  free(p->k);
  free(p->v);
  free(p->o);
  free(p->lse);
  reference_free(&p->reference);
}

static problem of_kind(attention_shape shape, inputs_kind kind, uint64_t seed) {
  problem p = create(shape);
  inputs_fill(&shape, kind, INPUTS_Q, seed, p.q);
  inputs_fill(&shape, kind, INPUTS_K, seed, p.k);
  inputs_fill(&shape, kind, INPUTS_V, seed, p.v);
  compute_reference(&p);
  return p;
}

// As in a trained model: a few columns of Q and K are large and much the same in all rows, a few keys are outliers, the
// first key draws half of the attention and has a small value, and a few columns of V are large.
static problem like_a_model(attention_dtype dtype, int seq, bool causal) {
  problem p = of_kind(make_shape(dtype, seq, seq, causal), INPUTS_NORMAL, 7);
  reference_free(&p.reference);
  const size_t dim = (size_t)p.shape.head_dim;
  for (size_t i = 0; i < shape_kv_count(&p.shape); i++) {
    const size_t row = i / dim % (size_t)seq, column = i % dim;
    double q = (double)reference_value(dtype, p.q[i]), k = (double)reference_value(dtype, p.k[i]),
           v = (double)reference_value(dtype, p.v[i]);
    if (column == 5 || column == 40) q = 6 + 0.3 * q, k = -9 + 0.5 * k;
    if (row % 97 == 50) k *= 4;
    if (column == 11) {
      q = 8;
      k = row == 0 ? 5 : 0;
    }
    if (column % 21 == 3) v = 40 + 10 * v;
    if (row == 0) v *= 0.02;
    p.q[i] = bits_of(dtype, q);
    p.k[i] = bits_of(dtype, k);
    p.v[i] = bits_of(dtype, v);
  }
  compute_reference(&p);
  return p;
}

// ---- Right kernels on the host ------------------------------------------------------------------

typedef enum {
  FLASH, // probabilities below the row max, rounded for V; their sum is not: FlashAttention, steps 05 to 14
  ROUNDED_SUM, // the sum is that of the rounded ones
  LAZY,        // probabilities of up to 2^9, below another number than the row max: step 17
  NORMALISED,  // probabilities divided by their sum, then rounded
  KERNELS
} kernel;

static void run_row(kernel kernel, const problem *p, size_t row) {
  static float probability[4096];
  const attention_shape *shape = &p->shape;
  const attention_dtype dtype = shape->dtype;
  const size_t dim = (size_t)shape->head_dim, head = row / (size_t)shape->seq_q;
  const size_t first = head * (size_t)shape->seq_kv * dim; // of as many key/value heads
  const int keys = shape_visible_keys(shape, (int)(row % (size_t)shape->seq_q));
  float row_max = -INFINITY;
  for (int key = 0; key < keys; key++) {
    float score = 0;
    for (size_t d = 0; d < dim; d++)
      score += reference_value(dtype, p->q[row * dim + d]) *
               reference_value(dtype, p->k[first + (size_t)key * dim + d]);
    probability[key] = score * shape->scale;
    row_max = fmaxf(row_max, probability[key]);
  }
  const float below = kernel == LAZY ? row_max - 6.1f : row_max;
  float sum = 0;
  for (int key = 0; key < keys; key++) sum += probability[key] = expf(probability[key] - below);
  const float whole = sum;
  if (kernel == ROUNDED_SUM) sum = 0;
  for (int key = 0; key < keys; key++) {
    if (kernel == NORMALISED) probability[key] /= whole;
    probability[key] = reference_round(dtype, probability[key]);
    if (kernel == ROUNDED_SUM) sum += probability[key];
  }
  if (kernel == NORMALISED) sum = 1;
  for (size_t d = 0; d < dim; d++) {
    float o = 0;
    for (int key = 0; key < keys; key++)
      o += probability[key] * reference_value(dtype, p->v[first + (size_t)key * dim + d]);
    p->o[row * dim + d] = bits_of(dtype, keys > 0 ? (double)(o / sum) : 0);
  }
  p->lse[row] = keys > 0 ? below + logf(whole) : -INFINITY;
}

static check_result check(const problem *p, bool *right) {
  check_result result;
  *right = check_outputs(&p->shape, p->o, p->lse, &p->reference, &result);
  return result;
}

// Runs all kernels. Returns the largest part of its allowed error that an element has used.
static double expect_right(problem *p, const char *what) {
  double used = 0;
  for (int kernel = 0; kernel < KERNELS; kernel++) {
    bool right;
    for (size_t row = 0; row < shape_lse_count(&p->shape); row++) run_row(kernel, p, row);
    const check_result result = check(p, &right);
    cr_assert(right && result.ill_conditioned == 0, "%s, kernel %d, %s: %s", what, kernel,
              shape_describe(&p->shape).text, result.message.text);
    used = fmax(used, result.o_used);
  }
  return used;
}

Test(allowance, right_kernels_pass_on_every_kind_of_inputs) {
  double used = 0;
  for (int kind = 0; kind < INPUTS_KINDS; kind++) {
    for (int variant = 0; variant < 4; variant++) {
      const attention_dtype dtype = variant & 1 ? ATTENTION_BF16 : ATTENTION_FP16;
      problem p = of_kind(make_shape(dtype, 33, 150, variant & 2), (inputs_kind)kind,
                          (uint64_t)variant + 1);
      used = fmax(used, expect_right(&p, inputs_name((inputs_kind)kind)));
      destroy(&p);
    }
  }
  cr_expect(used > 0.2 && used < 0.95, "right kernels use %.3f of what is allowed", used);
}

// ---- Wrong kernels ------------------------------------------------------------------------------

typedef double spoiler(double value, size_t column, double unit);

static double plus_a_fifth(double value, size_t column, double unit) {
  return (void)column, (void)unit, value + 0.2;
}
static double times_1_03(double value, size_t column, double unit) {
  return (void)column, (void)unit, value * 1.03;
}
static double two_units_in_a_column(double value, size_t column, double unit) {
  return column == 17 ? value + 2 * unit : value;
}
static double a_column_lost(double value, size_t column, double unit) {
  return (void)unit, column == 17 ? 0 : value;
}

static void expect_wrong(problem *p, spoiler *spoil, const char *what) {
  const attention_dtype dtype = p->shape.dtype;
  for (size_t row = 0; row < shape_lse_count(&p->shape); row++) run_row(FLASH, p, row);
  for (size_t i = 0; i < shape_q_count(&p->shape); i++) {
    const double value = (double)reference_value(dtype, p->o[i]);
    const double unit =
        ldexp(1, (value == 0 ? -14 : ilogb(value)) - (dtype == ATTENTION_FP16 ? 10 : 7));
    p->o[i] = bits_of(dtype, spoil(value, i % 64, unit));
  }
  bool right;
  const check_result result = check(p, &right);
  cr_expect(!right, "%s passes on %s, using %.3f of what is allowed", what,
            shape_describe(&p->shape).text, result.o_used);
}

Test(allowance, numbers_like_those_of_a_model) {
  for (int variant = 0; variant < 4; variant++) {
    const bool causal = variant & 2;
    problem p = like_a_model(variant & 1 ? ATTENTION_BF16 : ATTENTION_FP16, 200, causal);
    const double used = expect_right(&p, "like a model");
    cr_expect(used < 0.95, "right kernels use %.3f of what is allowed", used);
    expect_wrong(&p, plus_a_fifth, "O + 0.2");
    expect_wrong(&p, times_1_03, "O * 1.03");
    expect_wrong(&p, a_column_lost, "a column of zeros");
    // This shows where few keys share the weight: in the first rows, with a causal mask.
    if (causal) expect_wrong(&p, two_units_in_a_column, "2 units in the last place of one column");
    destroy(&p);
  }
}

// ---- Scores that float32 cannot tell apart ------------------------------------------------------

// Two keys whose scores, 2^28 and 2^28 + 3, are one number in float32, and a third far below. Row 0 has them; row 1
// has ordinary scores.
static problem tied_in_float32(void) {
  problem p = create((attention_shape){ATTENTION_FP16, 1, 1, 1, 2, 3, 64, false, 1.0f});
  memset(p.q, 0, shape_q_count(&p.shape) * sizeof *p.q);
  memset(p.k, 0, shape_kv_count(&p.shape) * sizeof *p.k);
  const double q[2][2] = {{16384, 1}, {0, 1}}, k[3][2] = {{16384, 0}, {16384, 3}, {-16384, 1}};
  for (size_t i = 0; i < 2; i++)
    for (size_t d = 0; d < 2; d++) p.q[i * 64 + d] = bits_of(ATTENTION_FP16, q[i][d]);
  for (size_t i = 0; i < 3; i++)
    for (size_t d = 0; d < 2; d++) p.k[i * 64 + d] = bits_of(ATTENTION_FP16, k[i][d]);
  inputs_fill(&p.shape, INPUTS_NORMAL, INPUTS_V, 1, p.v);
  compute_reference(&p);
  return p;
}

Test(allowance, ill_conditioned_rows_are_told_and_still_judged) {
  problem p = tied_in_float32();
  bool right;
  cr_expect(reference_ill_conditioned(&p.reference, 0));
  cr_expect(!reference_ill_conditioned(&p.reference, 1));
  for (size_t row = 0; row < 2; row++) run_row(FLASH, &p, row); // half of each key in row 0
  check_result result = check(&p, &right);
  cr_assert(right, "%s", result.message.text);
  cr_expect_eq(result.ill_conditioned, 1);
  cr_expect_eq(check_verdict_of(right, &result), CHECK_ILL_CONDITIONED);
  cr_expect(
      strstr(
          result.message.text,
          "the input is ill-conditioned in 1 of 2 rows, such as batch 0, head 0, row 0: keys tie "),
      "%s", result.message.text);

  const uint16_t kept = p.o[3];
  // Every value between the two keys is right, and no value outside.
  const double beyond = fmax((double)reference_value(ATTENTION_FP16, p.v[3]),
                             (double)reference_value(ATTENTION_FP16, p.v[64 + 3]));
  p.o[3] = bits_of(ATTENTION_FP16, beyond + 0.01);
  result = check(&p, &right);
  cr_expect(!right, "a row that is no mean of its keys passes");
  cr_expect(strstr(result.message.text, "O is wrong at batch 0, head 0, row 0, column 3"), "%s",
            result.message.text);
  p.o[3] = kept;
  p.o[64 + 3] =
      bits_of(ATTENTION_FP16, (double)reference_value(ATTENTION_FP16, p.o[64 + 3]) + 0.05);
  result = check(&p, &right);
  cr_expect(!right, "a wrong row beside an ill-conditioned one passes");
  cr_expect(strstr(result.message.text, "O is wrong at batch 0, head 0, row 1, column 3"), "%s",
            result.message.text);
  destroy(&p);
}

// One key with a score of 2^28 is no rival to itself: O is its row of V, and nothing else.
Test(allowance, a_large_score_alone_widens_nothing) {
  problem p = tied_in_float32();
  reference_free(&p.reference);
  p.k[64] = bits_of(ATTENTION_FP16, -16384);
  compute_reference(&p);
  cr_expect(!reference_ill_conditioned(&p.reference, 0));
  const double used = expect_right(&p, "one large score");
  cr_expect(used < 0.95, "right kernels use %.3f of what is allowed", used);
  expect_wrong(&p, times_1_03, "O * 1.03");
  destroy(&p);
}

// With one key lse is its score, here 2500 - 2500. In float32 it may be off by far more than 1e-5, and by no more than
// the products explain.
Test(allowance, lse_of_one_key_whose_products_cancel) {
  problem p = create(make_shape(ATTENTION_FP16, 1, 1, false));
  for (size_t head = 0; head < 2; head++)
    for (size_t d = 0; d < 64; d++) {
      p.q[head * 64 + d] = bits_of(ATTENTION_FP16, d < 2 ? 200 : 0);
      p.k[head * 64 + d] = bits_of(ATTENTION_FP16, d == 0 ? 100 : d == 1 ? -100 : 0);
    }
  inputs_fill(&p.shape, INPUTS_NORMAL, INPUTS_V, 1, p.v);
  compute_reference(&p);
  memcpy(p.o, p.v, 2 * 64 * sizeof *p.o);
  const struct {
    float lse;
    bool right;
  } cases[] = {{0, true}, {1e-3f, true}, {-1e-3f, true}, {1e-2f, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    p.lse[0] = 0;
    p.lse[1] = cases[i].lse;
    bool right;
    const check_result result = check(&p, &right);
    cr_expect_eq(right, cases[i].right, "lse %g: %s", (double)cases[i].lse, result.message.text);
  }
  destroy(&p);
}

// The answer of float64 is right as well; then there is nothing to report.
Test(allowance, the_exact_answer_to_an_ill_conditioned_input_is_simply_right) {
  problem p = tied_in_float32();
  for (size_t row = 0; row < 2; row++) run_row(FLASH, &p, row);
  for (size_t d = 0; d < 64; d++) p.o[d] = bits_of(ATTENTION_FP16, p.reference.o[d]);
  bool right;
  const check_result result = check(&p, &right);
  cr_expect(right && result.ill_conditioned == 0, "%s", result.message.text);
  destroy(&p);
}

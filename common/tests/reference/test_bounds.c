// Compares what a kernel's error may be with the sums that allowance.h describes, written out for a few keys. The numbers
// are such that each part of a sum is seen in the result.
#include "reference/allowance.h"
#include "reference/reference.h"
#include <criterion/criterion.h>
#include <math.h>

enum { KEYS = 4, DIM = 2 };

// |scale| * |q| is 2, so that e_j = 8 * 2^-24 * |scale| * |q| |K[j]| is this times |K[j]|.
static const double score_factor = 0x1p-20;
static const float q[DIM] = {0, -4};

static row_problem make_row(attention_dtype dtype, int keys, const float *v, const float *k_norm) {
  return (row_problem){
      .dtype = dtype, .scale = -0.5f, .keys = keys, .dim = DIM, .q = q, .V = v, .K_norm = k_norm};
}

static void expect_near(double got, double expected, const char *what, int dtype, int column) {
  cr_expect(fabs(got - expected) <= 3e-6 * fabs(expected), "%s of column %d, type %d: %g, not %g",
            what, column, dtype, got, expected);
}

Test(bounds, of_an_element_and_of_the_mean) {
  static const float v[KEYS][DIM] = {{1, -2}, {2, 4}, {-4, 8}, {16384, -8192}};
  static const float k_norm[KEYS] = {0x1p10f, 0x1p9f, 0x1p8f, 0x1p22f};
  // fp16 may lose the last one, whose score may be off by 4, which changes it by no more than all of it.
  static const double weights[KEYS] = {0.5, 0.25, 0.25, 1.5 * 0x1p-25};
  static const double o[DIM] = {0, -2}, peak[DIM] = {1, 3};
  for (int type = 0; type < 2; type++) {
    const attention_dtype dtype = type ? ATTENTION_BF16 : ATTENTION_FP16;
    const double unit = type ? 0x1p-8 : 0x1p-11, least = type ? 0x1p-134 : 0x1p-25;
    const double sums = 0x1p-21 + (32 + KEYS / 8.0) * 0x1p-24;
    const row_problem row = make_row(dtype, KEYS, v[0], k_norm);
    for (int uncertain = 0; uncertain < 3; uncertain++) {
      // The scores may be off, or one key alone matters, or the row is ill-conditioned.
      const double score_error = uncertain == 0 ? 0x1p-14 : uncertain == 1 ? 0 : 0.07;
      float allowed[DIM], mean[DIM];
      allowance_of_row(&row, weights, o, peak, score_error, allowed, mean);
      for (int d = 0; d < DIM; d++) {
        double weighted = 0, squares = 0, in_all = 0;
        for (int j = 0; j < KEYS; j++) {
          const double off =
              sums + (uncertain == 0 ? fmin(score_factor * (double)k_norm[j], 1) : 0);
          const double value = fabs((double)v[j][d]), lost = fmin(weights[j], least);
          weighted += (weights[j] * (unit + off) + lost) * value;
          squares += pow(fmax(weights[j] * unit, lost) * value, 2);
          in_all += weights[j] * off;
        }
        const double size = fabs(o[d]);
        expect_near((double)allowed[d], 1.25 * (weighted + size * (unit + in_all) + least),
                    "the error", type, d);
        if (uncertain == 2) continue; // the mean means nothing
        squares += 2 * (pow(size * unit, 2) + least * least);
        const double in_all_keys = score_error + 0x1p-21 + (type ? 0 : weights[3]);
        expect_near((double)mean[d],
                    1.5 * sqrt(squares / 3) + in_all_keys * (weighted / unit + size) +
                        sums * (peak[d] + size),
                    "the mean", type, d);
      }
    }
  }
}

// A key matters where its score, with the largest error of its own, may come within 20 of the largest, which may be smaller
// by its error.
Test(bounds, of_scores) {
  static const struct {
    double scores[3], errors[3], row, lse;
  } cases[] = {
      {{0, -20.1, -30}, {0.5, 0.25, 2}, 0.5, 0.5},
      {{0, -20.6, -30}, {0.5, 0.25, 2}, 0.5, 0.5}, // both errors are needed
      {{0, -20.8, -30}, {0.5, 0.25, 2}, 0, 0.5},   // one key alone
      {{0, -20.1, -22}, {0.5, 0.25, 2}, 2, 2},
      {{-30, -20.1, 0}, {2, 0.75, 0.5}, 0.75, 0.75},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float k_norm[3];
    double lse = 0;
    for (int j = 0; j < 3; j++) k_norm[j] = (float)(cases[i].errors[j] / score_factor);
    const row_problem row = make_row(ATTENTION_FP16, 3, NULL, k_norm);
    cr_expect_eq(allowance_score_error(&row, cases[i].scores, &lse), cases[i].row, "row %zu", i);
    cr_expect_eq(lse, cases[i].lse, "lse of row %zu: %g", i, lse);
  }
}

// O lies among the values of the first two keys. The third one does not matter.
Test(bounds, of_an_ill_conditioned_row) {
  static const float v[3][DIM] = {{1, 5}, {2, -10}, {100, -100}}, allowed[DIM] = {0.5f, 0};
  static const double scores[3] = {0, -1, -100};
  static const double errors[] = {0.125, 0.75, 1.5, 0.125};
  for (int i = 0; i < 4; i++) {
    // The last one is so near to the low end that the errors limit the high end.
    const double o[DIM] = {1.25, i < 3 ? 4 : -4};
    const float most = (float)(errors[i] / score_factor), k_norm[3] = {most, most / 2, most / 2};
    const row_problem row = make_row(ATTENTION_FP16, 3, v[0], k_norm);
    float low[DIM], high[DIM];
    allowance_of_uncertain_row(&row, scores, o, allowed, low, high);
    const double rounded = 1.25 * 2 * 0x1p-11 * 10; // of the second column, at both ends
    double off[DIM];
    for (int d = 0; d < DIM; d++)
      off[d] = i != 2 ? expm1(2 * errors[i]) * ((d ? 10 : 2) + fabs(o[d])) : INFINITY;
    expect_near((double)low[0], fmax(1, o[0] - off[0]) - 0.5, "the low end", i, 0);
    expect_near((double)high[0], fmin(2, o[0] + off[0]) + 0.5, "the high end", i, 0);
    expect_near((double)low[1], fmax(-10, o[1] - off[1]) - rounded, "the low end", i, 1);
    expect_near((double)high[1], fmin(5, o[1] + off[1]) + rounded, "the high end", i, 1);
  }
}

Test(bounds, of_what_float32_determines) {
  float errors[] = {0x1p-4f, nextafterf(0x1p-4f, 1)};
  const reference_result result = {.score_error = errors};
  cr_expect(!reference_ill_conditioned(&result, 0) && reference_ill_conditioned(&result, 1));
}

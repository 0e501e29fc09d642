// Computes the error that a correct kernel may have in each element of O, and finds the rows for which
// float32 is not precise enough.
//
// A correct kernel makes these errors, and no others, of O[d] = sum_j w_j V[j][d], where w are the exact
// weights and u is half a unit in the last place of the element type relative to the value, 2^-11 for fp16,
// 2^-8 for bf16:
//
//   - It rounds each probability to the element type before it multiplies V. The rounding error is at most u
//     times the probability, or 2^-25 where fp16 is subnormal. This adds sum_j (w_j u + min(w_j, 2^-25))
//     |V[j][d]|. The kernel may divide by the sum of the rounded probabilities or of the others; the first
//     choice removes a common part of that error.
//   - It rounds O, which adds u |O[d]|, and 2^-25 where fp16 is subnormal.
//   - It computes scores in float32, each with an error of at most e_j = 8 * 2^-24 * |scale| * |q| |K[j]|.
//     The error comes from head_dim additions of products, which are no larger than |q| |K[j]| in all, from
//     one or two multiplications, and from the subtraction of the max. Tensor cores also truncate their sums.
//     The weight is off by the factor exp(e_j), and so is the sum of the weights. This adds sum_j w_j e_j
//     (|V[j][d]| + |O[d]|).
//   - exp2 of the hardware is off by 2^-21 of its value; sums in float32 over n keys are off by (32 + n / 8)
//     2^-24 of their value.
//
// The errors of many elements tell more in the mean. Those of rounding are as often above as below the value, so their
// root mean square is u / sqrt(3) times that of what is rounded: sqrt(sum_j w_j^2 V[j][d]^2 + O[d]^2). The mean
// allowance is 3 / 2 of that, with O counted twice, since all probabilities may be rounded in the same direction where
// they are equal. The errors of scores, and of sums over the keys, may have one direction, and are added as above. The
// error of a sum is a part of the largest sum over the first keys, not of the sum of all |w_j V[j][d]|.
//
// The allowance is 5 / 4 of the sum. Where a row's scores are well determined, it never exceeds the bound of
// FlashAttention's test suite (reference.h), or 3 times the mean allowance where that is larger.
//
// They are not when e_j is above 1 / 16 for a key that matters and at least one other key matters. Such a row is
// ill-conditioned, and all weights are accepted that errors of this size in the scores can produce. O
// lies between the smallest and the largest element of V among those keys whose score may be within 20 of the
// largest, and as long as e < 1 the weights are off by a factor of exp(2 e) at most; rounding comes on top.
#ifndef ALLOWANCE_H
#define ALLOWANCE_H

#include "reference/rows.h"

// A row counts as ill-conditioned when its scores are uncertain by more than this, in nats.
#define ALLOWANCE_ILL 0.0625

// Returns how far the row's scores may be off, in nats. This is the largest e_j of keys that matter, given
// the exact scaled scores [keys]. A key matters when its score may be within 20 of the largest. The result is 0 when
// only one key matters, since its weight is 1 for any score. `lse_error` receives how far lse may be off, in nats. That
// is the largest e_j even when only one key matters, because lse is then the score of that key.
double allowance_score_error(const row_problem *row, const double *scores, double *lse_error);

// Computes the allowed error of each element of the row's O [dim], and what its root mean square may be over many
// elements, given the exact weights [keys], the exact O, the largest sums |w_0 V[0][d] + ... + w_j V[j][d]| as `peak`
// [dim], and the result of allowance_score_error. For an ill-conditioned row it allows the errors of rounding alone,
// and the mean means nothing.
void allowance_of_row(const row_problem *row, const double *weights, const double *o,
                      const double *peak, double score_error, float *allowed, float *mean);

// Computes, for an ill-conditioned row, the bounds between which each element of O may lie, rounding
// included.
void allowance_of_uncertain_row(const row_problem *row, const double *scores, const double *o,
                                const float *allowed, float *low, float *high);

#endif

// What a right kernel's O may be off by, element by element, and where float32 cannot tell the answer.
//
// A kernel that is right makes these errors, and no others, of O[d] = sum_j w_j V[j][d], where w are the exact weights
// and u is half a unit in the last place of the element type relative to the value, 2^-11 for fp16, 2^-8 for bf16:
//
//   - It rounds each probability to the element type before it multiplies V, by at most u of it, or, where fp16 is
//     subnormal, by 2^-25: sum_j (w_j u + min(w_j, 2^-25)) |V[j][d]|. Whether it divides by the sum of the rounded
//     probabilities or of the others is its own affair: the first takes a common part of that error away.
//   - It rounds O: u |O[d]|, and 2^-25 where fp16 is subnormal.
//   - It computes scores in float32, each off by e_j = 8 * 2^-24 * |scale| * |q| |K[j]|: head_dim additions of products
//     no larger than |q| |K[j]| in all, some in the tensor cores, which cut off what they cannot hold, one or two
//     multiplications, and the subtraction of the max. The weight is off by the factor exp(e_j), and the sum of the
//     weights likewise: sum_j w_j e_j (|V[j][d]| + |O[d]|).
//   - exp2 of the hardware is off by 2^-21 of its value; sums in float32 over n keys by (32 + n / 8) 2^-24 of theirs.
//
// The allowance is 5 / 4 of the sum. It never exceeds the bound of FlashAttention's test suite (reference.h), where
// a row's scores are well determined.
//
// Where they are not, e_j being above 1 / 16 for a key that matters and there being a rival, the row is
// ill-conditioned: any weights are right that the errors of scores can make. O lies between the smallest
// and the largest element of V among those keys whose score may be within 20 of the largest, and
// as long as e < 1 the weights are off by a factor of exp(2 e) at most; rounding comes on top.
#ifndef ALLOWANCE_H
#define ALLOWANCE_H

#include "reference/rows.h"

// From which uncertainty of its scores on, in nats, a row counts as ill-conditioned.
#define ALLOWANCE_ILL 0.0625

// How far the row's scores may be off, in nats: the largest e_j of keys that matter, given the exact scaled scores
// [keys]. 0 when there is one such key alone, since its weight is 1 whatever its score.
double allowance_score_error(const row_problem *row, const double *scores);

// The allowed error of each element of the row's O [dim], given the exact weights [keys], the exact O, and what
// allowance_score_error says. For a row that is ill-conditioned it is what rounding alone allows.
void allowance_of_row(const row_problem *row, const double *weights, const double *o,
                      double score_error, float *allowed);

// For an ill-conditioned row: between which values each element of O may lie, rounding included.
void allowance_of_uncertain_row(const row_problem *row, const double *scores, const double *o,
                                const float *allowed, float *low, float *high);

#endif

// The reference computes attention in float64, to compare a step's output with. It is written for reading,
// not for speed.
#ifndef REFERENCE_H
#define REFERENCE_H

#include "attention.h"
#include "error/error.h"
#include "reference/selection.h"

typedef struct {
  row_selection
      selection;  // which rows there are, `count` in each head: all, or some (selection_count)
  double *o;      // [batch, heads, count, head_dim]
  double *lse;    // [batch, heads, count]; -infinity for a row that sees no key
  double o_bound; // the larger of the largest o_allowed and the bound that is given below
  // [batch, heads, count, head_dim]: the largest |O - o| of an element that passes. It is less than o_bound
  // wherever a correct kernel makes a smaller error (allowance.h).
  float *o_allowed;
  float *o_mean; // likewise: what the root mean square of |O - o| may be over many elements
  // score_error [batch, heads, count] says how far the float32 scores of a row may be off, in nats. o_low and
  // o_high [batch, heads, count, head_dim] are the bounds of O in ill-conditioned rows. They are set in such
  // rows only, and are NULL when there is none.
  // lse_error [batch, heads, count] says how far that may put lse off. It is not 0 where one key alone matters,
  // because lse is then the score of that key.
  float *score_error;
  float *lse_error;
  float *o_low, *o_high;
} reference_result;

// Computes the reference and the bounds. q, k and v hold fp16 or bf16 bits, laid out as in
// attention.h. Returns false, with a sentence, when memory runs out.
//
// o_bound follows FlashAttention's own test suite (Dao, flash-attention, tests/test_flash_attn.py):
//   max |O - ref| <= 2 * max |low - ref| + atol
// where `low` is plain attention that rounds scores, probabilities and output to the element type,
// as a framework's unfused path does, and atol = 2 * max |((ref + 0.3) - 0.3) - ref| evaluated in
// the element type. So a kernel's error may be at most twice that of plain attention, plus rounding. An
// element where plain attention overflows (its error is not finite) does not widen the bound. If there are
// few elements, plain attention may be right by luck. So an element may always be off by 3 times its o_mean,
// if o_allowed is not less, and o_bound is the larger one of both.
bool reference_compute(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                       const uint16_t *v, reference_result *result, error_text *error);

// Does the same for `per_head` rows of each head, which selection_create selects by the seed. The bound is
// that of these rows.
bool reference_compute_some(const attention_shape *shape, const uint16_t *q, const uint16_t *k,
                            const uint16_t *v, size_t per_head, uint64_t seed,
                            reference_result *result, error_text *error);

// Releases the memory and zeroes the result. A zeroed result may be freed too.
void reference_free(reference_result *result);

// Tells whether float32 scores are too imprecise to determine the row's weights (allowance.h). `row` is the
// row's number among the selected rows of all heads.
bool reference_ill_conditioned(const reference_result *result, size_t row);

// They return the value that fp16 or bf16 bits stand for, and the nearest value of the type.
float reference_value(attention_dtype dtype, uint16_t bits);
float reference_round(attention_dtype dtype, float value);

#endif

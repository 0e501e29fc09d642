// Attention as a framework's unfused path computes it, in float32 inside each operation and rounded to the
// element type after each. The bound of FlashAttention's test suite is derived from its error.
#ifndef LOW_PRECISION_H
#define LOW_PRECISION_H

#include "reference/rows.h"

// Computes O of the selected rows [rows, head_dim], rounded to the element type, as float32 values. q, k and
// v hold fp16 or bf16 bits. Returns false, with a sentence, when memory runs out.
bool low_precision_compute(const attention_shape *shape, const row_selection *selection,
                           const uint16_t *q, const uint16_t *k, const uint16_t *v, float *o,
                           error_text *error);

#endif

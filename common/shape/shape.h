// Sizes of a problem: are they sensible, how many elements and operations do they make.
#ifndef SHAPE_H
#define SHAPE_H

#include "attention.h"
#include "error/error.h"

// True when every size is at least 1, kv_heads divides heads, scale is finite and the bytes of each
// tensor can be counted. What a step can take is the step's own matter (attention_unsupported).
bool shape_valid(const attention_shape *shape, error_text *error);

size_t shape_q_count(const attention_shape *shape);   // elements of Q and of O
size_t shape_kv_count(const attention_shape *shape);  // elements of K and of V
size_t shape_lse_count(const attention_shape *shape); // elements of lse: rows of Q

// How many of row `query`'s keys the mask leaves visible: always the first ones.
int shape_visible_keys(const attention_shape *shape, int query);

// Floating-point operations of both products over the visible pairs of rows: 2 for each multiply
// and add, so 4 * batch * heads * seq_q * seq_kv * head_dim without a mask.
double shape_operations(const attention_shape *shape);

const char *shape_dtype_name(attention_dtype dtype); // "fp16" or "bf16"

// Such as "2x8x128x64 fp16 causal"; with "kv 2x8x96x64" when K's shape differs from Q's.
typedef struct {
  char text[160];
} shape_text;
shape_text shape_describe(const attention_shape *shape);

#endif

// Checks the sizes of a problem, and computes how many elements and operations they make.
#ifndef SHAPE_H
#define SHAPE_H

#include "attention.h"
#include "error/error.h"

// Returns true when every size is from 1 to 2^30, kv_heads divides heads, scale is finite and the bytes of each tensor,
// and of its reference in float64, can be counted; else false with a sentence. Each step decides itself which of these
// shapes it takes (attention_unsupported).
bool shape_valid(const attention_shape *shape, error_text *error);

size_t shape_q_count(const attention_shape *shape);   // elements of Q and of O
size_t shape_kv_count(const attention_shape *shape);  // elements of K and of V
size_t shape_lse_count(const attention_shape *shape); // elements of lse: rows of Q
size_t shape_bytes(const attention_shape *shape);     // of Q, K, V, O and lse together

// Returns how many of row `query`'s keys the mask leaves visible, which are always the first ones.
int shape_visible_keys(const attention_shape *shape, int query);

// Returns the floating-point operations of both products over the visible pairs of rows. A multiply
// and an add are 2 operations, so this is 4 * batch * heads * seq_q * seq_kv * head_dim without a
// mask.
double shape_operations(const attention_shape *shape);

const char *shape_dtype_name(attention_dtype dtype); // "fp16" or "bf16"

// A text such as "2x8x128x64 fp16 causal", with "kv 2x8x96x64" when K's shape differs from Q's.
typedef struct {
  char text[160];
} shape_text;
shape_text shape_describe(const attention_shape *shape);

#endif

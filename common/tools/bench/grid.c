#include "bench/grid.h"

#include <math.h>

enum { ROWS = 16384, COLUMNS = 2048 }; // batch * seq, heads * head_dim

static attention_shape make_shape(int batch, int heads, int seq, int head_dim, bool causal,
                                  int dtype) {
  return (attention_shape){.dtype = (attention_dtype)dtype,
                           .batch = batch,
                           .heads = heads,
                           .kv_heads = heads,
                           .seq_q = seq,
                           .seq_kv = seq,
                           .head_dim = head_dim,
                           .causal = causal,
                           .scale = (float)(1.0 / sqrt((double)head_dim))};
}

static bool is_quick(const attention_shape *shape) {
  const int seq = shape->seq_q;
  return shape->dtype == ATTENTION_FP16 && (seq == 128 || seq == 512 || seq == 2048);
}

static bool passes(const grid_filter *filter, const attention_shape *shape) {
  return (!filter->quick || is_quick(shape)) && (!filter->seq || filter->seq == shape->seq_q) &&
         (!filter->head_dim || filter->head_dim == shape->head_dim) &&
         (filter->dtype < 0 || filter->dtype == (int)shape->dtype) &&
         (filter->causal < 0 || filter->causal == (int)shape->causal);
}

static bool has_type(int seq, int dtype) {
  return dtype == ATTENTION_FP16 || seq == 512 || seq == 4096;
}

// Adds the shape in its types, with and without the causal mask, unless the filter excludes it.
static size_t add(const grid_filter *filter, int batch, int heads, int seq, int head_dim,
                  attention_shape *next) {
  size_t count = 0;
  for (int causal = 0; causal <= 1; causal++) {
    for (int dtype = ATTENTION_FP16; dtype <= ATTENTION_BF16; dtype++) {
      const attention_shape shape = make_shape(batch, heads, seq, head_dim, causal, dtype);
      if (has_type(seq, dtype) && passes(filter, &shape)) next[count++] = shape;
    }
  }
  return count;
}

size_t grid_make(const grid_filter *filter, attention_shape shapes[GRID_MOST]) {
  size_t count = add(filter, 4, 8, 512, 64, shapes);
  for (int seq = 128; seq <= ROWS; seq *= 2) {
    for (int head_dim = 64; head_dim <= 128; head_dim *= 2) {
      count += add(filter, ROWS / seq, COLUMNS / head_dim, seq, head_dim, shapes + count);
    }
  }
  return count;
}

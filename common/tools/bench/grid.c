#include "bench/grid.h"

#include "shape/shape.h"
#include <math.h>

enum { ROWS = 16384, COLUMNS = 2048 }; // batch * seq, heads * head_dim

// Of the tensors of a shape. The reference of make decode, on the GPU, needs several times as much.
static const double decode_most_bytes = 4.4e9;

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

static bool is_quick_decode(const attention_shape *shape) {
  return shape->seq_q == 1 && shape->heads == 32 && shape->kv_heads == 8 &&
         (shape->batch == 1 || shape->batch == 16) && shape->seq_kv <= 16384;
}

static bool is_quick(const attention_shape *shape) {
  const int seq = shape->seq_q;
  return shape->dtype == ATTENTION_FP16 && (seq == 128 || seq == 512 || seq == 2048);
}

static bool passes(const grid_filter *filter, const attention_shape *shape) {
  const bool quick = filter->decode ? is_quick_decode(shape) : is_quick(shape);
  return (!filter->quick || quick) && (!filter->seq || filter->seq == shape->seq_kv) &&
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

static size_t make_decode(const grid_filter *filter, attention_shape shapes[GRID_MOST]) {
  static const int heads[][2] = {{32, 32}, {32, 8}, {32, 4}, {64, 8}}; // of Q, and of K and V
  size_t count = 0;
  for (int queries = 1; queries <= 4; queries += 3) {
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
      for (int batch = 1; batch <= 64; batch *= 4) {
        for (int keys = 1024; keys <= 65536; keys *= 4) {
          attention_shape shape =
              make_shape(batch, heads[i][0], queries, 128, queries > 1, ATTENTION_BF16);
          shape.kv_heads = heads[i][1], shape.seq_kv = keys;
          const bool fits = (double)shape_bytes(&shape) <= decode_most_bytes;
          if (fits && passes(filter, &shape)) shapes[count++] = shape;
        }
      }
    }
  }
  return count;
}

size_t grid_make(const grid_filter *filter, attention_shape shapes[GRID_MOST]) {
  if (filter->decode) return make_decode(filter, shapes);
  size_t count = add(filter, 4, 8, 512, 64, shapes);
  for (int seq = 128; seq <= ROWS; seq *= 2) {
    for (int head_dim = 64; head_dim <= 128; head_dim *= 2) {
      count += add(filter, ROWS / seq, COLUMNS / head_dim, seq, head_dim, shapes + count);
    }
  }
  return count;
}

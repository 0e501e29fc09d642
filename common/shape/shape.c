#include "shape/shape.h"

#include <math.h>

static bool count_fits(size_t a, size_t b, size_t c, size_t d) {
  // 16 bytes an element leave room for the float64 reference and for red zones.
  size_t bytes = 16;
  return !__builtin_mul_overflow(bytes, a, &bytes) && !__builtin_mul_overflow(bytes, b, &bytes) &&
         !__builtin_mul_overflow(bytes, c, &bytes) && !__builtin_mul_overflow(bytes, d, &bytes) &&
         bytes <= (size_t)PTRDIFF_MAX;
}

bool shape_valid(const attention_shape *shape, error_text *error) {
  const struct {
    const char *name;
    int value;
  } sizes[] = {
      {"batch", shape->batch}, {"heads", shape->heads},   {"kv_heads", shape->kv_heads},
      {"seq_q", shape->seq_q}, {"seq_kv", shape->seq_kv}, {"head_dim", shape->head_dim},
  };
  const int largest = 1 << 30; // kernels add a tile to an index: keep the sum within an int
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (sizes[i].value < 1 || sizes[i].value > largest) {
      return fail(error, "%s is %d: give a size from 1 to %d", sizes[i].name, sizes[i].value,
                  largest);
    }
  }
  if (shape->heads % shape->kv_heads != 0) {
    return fail(error,
                "heads is %d and kv_heads is %d: heads must be a multiple of kv_heads, so that "
                "each key/value head serves the same number of query heads",
                shape->heads, shape->kv_heads);
  }
  if (!isfinite(shape->scale)) {
    return fail(error, "scale is %g: give a finite number", (double)shape->scale);
  }
  const size_t batch = (size_t)shape->batch;
  const size_t heads = (size_t)shape->heads;
  const size_t dim = (size_t)shape->head_dim;
  if (!count_fits(batch, heads, (size_t)shape->seq_q, dim) ||
      !count_fits(batch, heads, (size_t)shape->seq_kv, dim)) {
    return fail(error, "%s is too large: the bytes of a tensor cannot be counted in 64 bits",
                shape_describe(shape).text);
  }
  return true;
}

size_t shape_lse_count(const attention_shape *shape) {
  return (size_t)shape->batch * (size_t)shape->heads * (size_t)shape->seq_q;
}

size_t shape_q_count(const attention_shape *shape) {
  return shape_lse_count(shape) * (size_t)shape->head_dim;
}

size_t shape_kv_count(const attention_shape *shape) {
  return (size_t)shape->batch * (size_t)shape->kv_heads * (size_t)shape->seq_kv *
         (size_t)shape->head_dim;
}

size_t shape_bytes(const attention_shape *shape) {
  return 2 * (shape_q_count(shape) + shape_kv_count(shape)) * sizeof(uint16_t) +
         shape_lse_count(shape) * sizeof(float);
}

int shape_visible_keys(const attention_shape *shape, int query) {
  if (!shape->causal) return shape->seq_kv;
  const int diagonal = query + shape->seq_kv - shape->seq_q; // the last key the row may see
  if (diagonal < 0) return 0;
  return diagonal < shape->seq_kv ? diagonal + 1 : shape->seq_kv;
}

double shape_operations(const attention_shape *shape) {
  double pairs = 0;
  for (int query = 0; query < shape->seq_q; query++) pairs += shape_visible_keys(shape, query);
  return 4.0 * shape->batch * shape->heads * pairs * shape->head_dim;
}

const char *shape_dtype_name(attention_dtype dtype) {
  return dtype == ATTENTION_FP16 ? "fp16" : "bf16";
}

shape_text shape_describe(const attention_shape *shape) {
  shape_text out;
  int length = snprintf(out.text, sizeof out.text, "%dx%dx%dx%d %s%s", shape->batch, shape->heads,
                        shape->seq_q, shape->head_dim, shape_dtype_name(shape->dtype),
                        shape->causal ? " causal" : "");
  if (shape->kv_heads != shape->heads || shape->seq_kv != shape->seq_q) {
    snprintf(out.text + length, sizeof out.text - (size_t)length, ", kv %dx%dx%dx%d", shape->batch,
             shape->kv_heads, shape->seq_kv, shape->head_dim);
  }
  return out;
}

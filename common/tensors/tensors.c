#include "tensors/tensors.h"

#include "numeric/float16.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[3] = {"Q", "K", "V"};

// Writes a shape such as "2x8x128x64".
typedef struct {
  char text[160];
} size_text;

static size_text describe(const npy_array *array) {
  size_text out = {"a scalar"};
  size_t length = 0;
  for (int i = 0; i < array->rank && length < sizeof out.text; i++) {
    length += (size_t)snprintf(out.text + length, sizeof out.text - length, i ? "x%zu" : "%zu",
                               array->shape[i]);
  }
  return out;
}

static bool check_file(const char *path, const npy_array *array, attention_dtype dtype,
                       error_text *error) {
  if (array->rank != 4) {
    return fail(error, "%s is %s: give an array of rank 4, (batch, heads, seq, head_dim)", path,
                describe(array).text);
  }
  for (int i = 0; i < 4; i++) {
    if (array->shape[i] == 0) {
      return fail(error, "%s is %s: it holds no element", path, describe(array).text);
    }
    if (array->shape[i] > INT_MAX) {
      return fail(error, "%s is %s: %zu is too large for a size", path, describe(array).text,
                  array->shape[i]);
    }
  }
  if (array->dtype == NPY_UINT16 && dtype != ATTENTION_BF16) {
    return fail(error, "%s holds uint16, which stands for the bits of bf16: add --dtype bf16",
                path);
  }
  return true;
}

// Checks the sizes in which `array` must be like `other`.
static bool check_pair(int which, const npy_array *array, int other_which, const npy_array *other,
                       error_text *error) {
  static const char *const sizes[4] = {"batch", "kv_heads", "seq_kv", "head_dim"};
  for (int i = 0; i < 4; i++) {
    const bool may_differ = other_which == 0 && (i == 1 || i == 2); // heads and seq of Q
    if (may_differ || array->shape[i] == other->shape[i]) continue;
    return fail(error, "%s is %s but %s is %s: %s differs (%zu, %zu)", names[which],
                describe(array).text, names[other_which], describe(other).text, sizes[i],
                array->shape[i], other->shape[i]);
  }
  return true;
}

// Checks that a size on the command line is equal to that of the files.
static bool check_option(const options *options, option_id id, int given, const char *path,
                         const npy_array *array, int dimension, error_text *error) {
  if (!options->given[id] || (size_t)given == array->shape[dimension]) return true;
  return fail(error, "%s %d contradicts %s, which is %s: leave %s out", option_table[id].name,
              given, path, describe(array).text, option_table[id].name);
}

static bool check_options(const options *options, const tensor_files *files, error_text *error) {
  const attention_shape *given = &options->shape;
  const npy_array *q = &files->arrays[0];
  const npy_array *k = &files->arrays[1];
  return check_option(options, OPTION_BATCH, given->batch, options->q, q, 0, error) &&
         check_option(options, OPTION_HEADS, given->heads, options->q, q, 1, error) &&
         check_option(options, OPTION_KV_HEADS, given->kv_heads, options->k, k, 1, error) &&
         check_option(options, OPTION_SEQ, given->seq_q, options->q, q, 2, error) &&
         check_option(options, OPTION_SEQ, given->seq_kv, options->k, k, 2, error) &&
         check_option(options, OPTION_SEQ_Q, given->seq_q, options->q, q, 2, error) &&
         check_option(options, OPTION_SEQ_KV, given->seq_kv, options->k, k, 2, error) &&
         check_option(options, OPTION_DIM, given->head_dim, options->q, q, 3, error);
}

bool tensors_open(const options *options, bool emulated, tensor_files *files,
                  attention_shape *shape, error_text *error) {
  *files = (tensor_files){0};
  *shape = options_shape(options, emulated);
  if (!options->q) return true;

  const char *const paths[3] = {options->q, options->k, options->v};
  for (int i = 0; i < 3; i++) {
    if (!npy_read(paths[i], &files->arrays[i], error) ||
        !check_file(paths[i], &files->arrays[i], shape->dtype, error)) {
      return false;
    }
  }
  const npy_array *q = &files->arrays[0];
  const npy_array *k = &files->arrays[1];
  const npy_array *v = &files->arrays[2];
  if (!check_pair(1, k, 0, q, error) || !check_pair(2, v, 1, k, error) ||
      !check_options(options, files, error)) {
    return false;
  }
  shape->batch = (int)q->shape[0];
  shape->heads = (int)q->shape[1];
  shape->kv_heads = (int)k->shape[1];
  shape->seq_q = (int)q->shape[2];
  shape->seq_kv = (int)k->shape[2];
  shape->head_dim = (int)q->shape[3];
  if (!options->given[OPTION_SCALE]) shape->scale = options_default_scale(shape->head_dim);
  return true;
}

void tensors_close(tensor_files *files) {
  for (int i = 0; i < 3; i++) npy_free(&files->arrays[i]);
}

static float element(const npy_array *array, size_t i) {
  switch (array->dtype) {
  case NPY_FLOAT16: return fp16_to_float(((const uint16_t *)array->data)[i]);
  case NPY_UINT16: return bf16_to_float(((const uint16_t *)array->data)[i]);
  case NPY_FLOAT32: return ((const float *)array->data)[i];
  }
  return NAN;
}

static bool fail_not_finite(const char *path, const npy_array *array, attention_dtype dtype,
                            size_t i, error_text *error) {
  const double value = (double)element(array, i);
  const size_t *shape = array->shape;
  char where[128];
  snprintf(where, sizeof where, "(%zu, %zu, %zu, %zu)", i / shape[3] / shape[2] / shape[1],
           i / shape[3] / shape[2] % shape[1], i / shape[3] % shape[2], i % shape[3]);
  if (!isfinite(value)) {
    return fail(error, "%s holds %g at %s: attention is defined for finite numbers only", path,
                value, where);
  }
  if (dtype == ATTENTION_FP16) {
    return fail(error,
                "%s holds %.9g at %s, which becomes infinite in fp16, whose largest value is "
                "65504: make the values smaller, or use --dtype bf16",
                path, value, where);
  }
  return fail(error, "%s holds %.9g at %s, which becomes infinite in bf16: make the values smaller",
              path, value, where);
}

// Rounds to the nearest value of the element type.
static bool convert(const char *path, const npy_array *array, attention_dtype dtype, uint16_t *out,
                    error_text *error) {
  for (size_t i = 0; i < array->count; i++) {
    const float value = element(array, i);
    out[i] = dtype == ATTENTION_FP16 ? fp16_from_float(value) : bf16_from_float(value);
    if (!isfinite(reference_value(dtype, out[i]))) {
      return fail_not_finite(path, array, dtype, i, error);
    }
  }
  return true;
}

bool tensors_fill(const options *options, const tensor_files *files, trial *trial,
                  error_text *error) {
  const char *const paths[3] = {options->q, options->k, options->v};
  uint16_t *const tensors[3] = {trial->q, trial->k, trial->v};
  const inputs_tensor kinds[3] = {INPUTS_Q, INPUTS_K, INPUTS_V};
  for (int i = 0; i < 3; i++) {
    if (!options->q) {
      inputs_fill(&trial->shape, options->inputs, kinds[i], options->seed, tensors[i]);
    } else if (!convert(paths[i], &files->arrays[i], trial->shape.dtype, tensors[i], error)) {
      return false;
    }
  }
  return true;
}

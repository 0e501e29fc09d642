// Attention on the host, for steps of tests that are right.
#ifndef HOST_ATTENTION_H
#define HOST_ATTENTION_H

#include "numeric/float16.h"
#include "reference/reference.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <stdlib.h>

// Attention on the host, with the rounding of the framework's plain path, and off by `error`.
static inline cudaError_t compute(const attention_args *args, float error) {
  const attention_shape *shape = &args->shape;
  const size_t q_count = shape_q_count(shape);
  const size_t kv_bytes = shape_kv_count(shape) * sizeof(uint16_t);
  uint16_t *q = malloc(q_count * sizeof *q);
  uint16_t *k = malloc(kv_bytes);
  uint16_t *v = malloc(kv_bytes);
  float *lse = malloc(shape_lse_count(shape) * sizeof *lse);
  reference_result exact;
  error_text text;
  cudaMemcpy(q, args->q, q_count * sizeof *q, cudaMemcpyDeviceToHost);
  cudaMemcpy(k, args->k, kv_bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(v, args->v, kv_bytes, cudaMemcpyDeviceToHost);
  cr_assert(reference_compute(shape, q, k, v, &exact, &text), "%s", text.text);
  for (size_t i = 0; i < q_count; i++) q[i] = fp16_from_float((float)exact.o[i] + error);
  for (size_t i = 0; i < shape_lse_count(shape); i++) lse[i] = (float)exact.lse[i];
  cudaMemcpy(args->o, q, q_count * sizeof *q, cudaMemcpyHostToDevice);
  if (args->lse)
    cudaMemcpy(args->lse, lse, shape_lse_count(shape) * sizeof *lse, cudaMemcpyHostToDevice);
  reference_free(&exact);
  free(q), free(k), free(v), free(lse);
  return cudaSuccess;
}

#endif

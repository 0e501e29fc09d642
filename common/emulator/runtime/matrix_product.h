// The product of two matrices by the compiler's vector instructions, for the operations that stand in for
// the tensor cores.
#ifndef MATRIX_PRODUCT_H
#define MATRIX_PRODUCT_H

#include "block.h"
#include "numeric/float16.h"
#include "observer.h"
#include "tensor_core.h"

enum { K = 16, OUTER_MAX = 32 };

// Matrices in their fragments' outer and inner dimension. The longer of A and B is `tall` and gives
// the sum's outer index, the other is `flat` and gives the inner one. That holds for 8 x 32 too,
// since its accumulators are transposed.
typedef struct {
  float tall[OUTER_MAX][K]; // [outer, k]
  float flat[K][K];         // [k, outer]
  float sum[OUTER_MAX][K];  // [outer of tall, outer of flat]
} product_matrices;

// 16-bit elements as float32.
static inline void matrix_widen(float *to, const uint16_t *from, unsigned count,
                                emulator_fragment_element element) {
  if (element == EMULATOR_FP16) {
    for (unsigned i = 0; i < count; i++) to[i] = fp16_to_float(from[i]);
  } else {
    for (unsigned i = 0; i < count; i++) to[i] = bf16_to_float(from[i]);
  }
}

// sum += tall flat. Inlined with constant sizes, so that a row of sums stays in registers.
static inline __attribute__((always_inline)) void
matrix_multiply_add(product_matrices *matrices, const unsigned rows, const unsigned columns) {
  for (unsigned row = 0; row < rows; row++) {
    float sum[K];
    for (unsigned column = 0; column < columns; column++) sum[column] = matrices->sum[row][column];
    for (unsigned k = 0; k < K; k++) {
      const float factor = matrices->tall[row][k];
      for (unsigned column = 0; column < columns; column++) {
        sum[column] += factor * matrices->flat[k][column];
      }
    }
    for (unsigned column = 0; column < columns; column++) matrices->sum[row][column] = sum[column];
  }
}

// Counts products of 2048 multiply-adds.
static inline void matrix_product_count(unsigned operations, const emulator_site *site) {
  current_worker->counts.tensor_core_operations += operations;
  observer_matrix_product(current_worker, operations, site);
}

#endif

// Multiplies two matrices with the compiler's vector instructions,
// for the operations that stand in for the tensor cores.
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
    fp16_to_floats(to, from, count);
  } else {
    for (unsigned i = 0; i < count; i++) to[i] = bf16_to_float(from[i]);
  }
}

// sum [rows, columns] += tall [rows, K] flat [K, columns]. Rows of sum and of flat are `stride` floats
// apart. Inlined with constant sizes, so that a row of sums stays in registers: at most 32 columns.
static inline __attribute__((always_inline)) void
matrix_multiply_add(float *restrict sum, const float *restrict tall, const float *restrict flat,
                    const unsigned rows, const unsigned columns, const size_t stride) {
  for (unsigned row = 0; row < rows; row++, sum += stride, tall += K) {
    float sums[OUTER_MAX];
    for (unsigned column = 0; column < columns; column++) sums[column] = sum[column];
    for (unsigned k = 0; k < K; k++) {
      for (unsigned column = 0; column < columns; column++) {
        sums[column] += tall[k] * flat[k * stride + column];
      }
    }
    for (unsigned column = 0; column < columns; column++) sum[column] = sums[column];
  }
}

// Counts products of 2048 multiply-adds.
static inline void matrix_product_count(unsigned operations, const emulator_site *site) {
  current_worker->counts.tensor_core_operations += operations;
  if (current_worker->running->copies.count > 0) {
    current_worker->counts.products_over_copies += operations;
  }
  observer_matrix_product(current_worker, operations, site);
}

#endif

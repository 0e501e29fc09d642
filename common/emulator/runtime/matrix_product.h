// Multiplies two matrices with the compiler's vector instructions,
// for the operations that stand in for the tensor cores.
#ifndef MATRIX_PRODUCT_H
#define MATRIX_PRODUCT_H

#include "block.h"
#include "numeric/float16.h"
#include "observer.h"
#include "tensor_core.h"

#include <string.h>

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

// Eight sums beside each other. gcc and clang have this type on every processor.
typedef float eight_sums __attribute__((vector_size(32)));

// sum [rows, columns] += tall [rows, K] flat [K, columns]. Rows of sum and of flat are `stride` floats
// apart. `rows` is a multiple of 4, and `columns` of 8. The sums of four rows are variables of their own, because gcc keeps
// an array in memory, where each addition would wait for the store of the one before.
static inline __attribute__((always_inline)) void
matrix_multiply_add(float *restrict sum, const float *restrict tall, const float *restrict flat,
                    const unsigned rows, const unsigned columns, const size_t stride) {
  for (unsigned row = 0; row < rows; row += 4, sum += 4 * stride, tall += 4 * K) {
    for (unsigned column = 0; column < columns; column += 8) {
      eight_sums first, second, third, fourth, factors;
      memcpy(&first, sum + column, sizeof first);
      memcpy(&second, sum + stride + column, sizeof second);
      memcpy(&third, sum + 2 * stride + column, sizeof third);
      memcpy(&fourth, sum + 3 * stride + column, sizeof fourth);
      for (unsigned k = 0; k < K; k++) {
        memcpy(&factors, flat + k * stride + column, sizeof factors);
        first += tall[k] * factors;
        second += tall[K + k] * factors;
        third += tall[2 * K + k] * factors;
        fourth += tall[3 * K + k] * factors;
      }
      memcpy(sum + column, &first, sizeof first);
      memcpy(sum + stride + column, &second, sizeof second);
      memcpy(sum + 2 * stride + column, &third, sizeof third);
      memcpy(sum + 3 * stride + column, &fourth, sizeof fourth);
    }
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

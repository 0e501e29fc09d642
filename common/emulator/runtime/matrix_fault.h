// Checks of the calls of a warp's matrix operations; each fault is reported as a sentence.
#ifndef MATRIX_FAULT_H
#define MATRIX_FAULT_H

#include "tensor_core.h"

// The arguments of one lane's call of emulator_load_matrix or emulator_store_matrix.
typedef struct {
  const emulator_site *site; // first member, as in matrix_product_call
  const emulator_fragment_type *type;
  void *x;      // not written by a store
  void *memory; // not written by a load
  unsigned leading_dimension;
  bool column_major;
  bool store;
} matrix_memory_call;

// The arguments of one lane's call of emulator_multiply_matrices.
typedef struct {
  const emulator_site *site;
  const emulator_matrix_product *product;
} matrix_product_call;

static inline unsigned matrix_element_bytes(const emulator_fragment_type *type) {
  return type->element == EMULATOR_FP32 ? 4 : 2;
}

// Reports and leaves the launch when lanes are missing or call from different lines of the source.
// `operand` is as the warp collective gives it; each operand is a call that begins with a site.
void matrix_check_warp(void *const operand[32], unsigned lanes);

// Does the same when the lanes' calls differ or break the API's rules for `memory`.
void matrix_check_memory(void *const operand[32]);

#endif

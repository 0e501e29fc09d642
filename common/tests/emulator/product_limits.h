// Products of all widths, and such as the emulator refuses, for test_product_limits.c. Only the emulator runs them.
#ifndef PRODUCT_LIMITS_H
#define PRODUCT_LIMITS_H

#include "healthy.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LIMITS_ROWS = 64, LIMITS_K = 16, LIMITS_COLUMNS_MAX = 256 };

// The product of A [64, 16] and B [16, columns], which is in shared memory as it is or transposed. A is in registers if B
// is as it is. The tiles begin `offset` bytes behind a multiple of 1024.
void product_of(unsigned columns, bool transposed, unsigned offset, const float *A, const float *B,
                float *D);

// 20 products in turn, each with registers of its own; returns how many of their results are wrong.
int wrong_of_many_products(void);

// Two warp groups take a turn each, at named barriers. The first commits one group of products in its turn, the second
// two. Both also commit one before they wait for their turn, and one after they have passed it.
void groups_in_turns(void);

typedef enum {
  OTHER_A,
  OTHER_CLEAR,
  OTHER_COLUMNS,
  OTHER_ELEMENT,
  OTHER_TRANSPOSED,
  OTHER_REGISTERS,
  OTHER_FILE
} difference;
// Warp 2 of a warpgroup starts another product than the others.
void fault_of_difference(difference of);

// A product with these descriptors, whose tiles lie at the start of shared memory of 64 KiB.
typedef struct {
  unsigned columns, swizzle, base_offset, byte_offset, leading;
  bool transposed;
} odd_product;
void fault_of_odd_product(const odd_product *odd);

// Warps of a warpgroup come to different instructions in one line, or to the same in the same line of two files.
void fault_instructions(void);
void fault_files(void);
void fault_instructions_late(void);  // in two files, behind 140 others
void right_instructions_ahead(void); // a thread executes 140 of them before the others

#ifdef __cplusplus
}
#endif
#endif

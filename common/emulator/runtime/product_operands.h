// The operands of wgmma: matrices in shared memory that a descriptor tells of, and in registers.
#ifndef PRODUCT_OPERANDS_H
#define PRODUCT_OPERANDS_H

#include "block.h"
#include "matrix_product.h"

// Reports a fault when the descriptor is not one that the emulator can follow (warpgroup.h). `name` is "A" or
// "B"; `outer` how many rows A has, or columns B.
void product_check_operand(uint64_t descriptor, const char *name, unsigned outer, bool transposed,
                           const emulator_site *site);

// Tells the observer what the product will read of shared memory: all of it, or for the threads that start it
// after the first, of each operand the first row, which stands for the others.
void product_announce(const emulator_warpgroup_product *product, bool all,
                      const emulator_site *site);

// Reads A [64, 16] and B [16, columns], widened to float32.
void product_read_a(product_operands *to, const warpgroup_product *product);
void product_read_b(product_operands *to, const warpgroup_product *product);

#endif

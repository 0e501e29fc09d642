// The operands of wgmma: matrices in registers, or in shared memory where a descriptor gives their place.
#ifndef PRODUCT_OPERANDS_H
#define PRODUCT_OPERANDS_H

#include "block.h"
#include "matrix_product.h"

// Reports a fault when the descriptor has a form that the emulator does not support
// (warpgroup.h). `name` is "A" or "B"; `outer` is the number of A's rows, or of B's columns.
void product_check_operand(uint64_t descriptor, const char *name, unsigned outer, bool transposed,
                           const emulator_site *site);

// Tells the observer which shared memory the product will read: all of it for the first thread that
// starts the product; for later threads only the first row of each operand, which stands for the others.
void product_announce(const emulator_warpgroup_product *product, bool all,
                      const emulator_site *site);

// Reads A [64, 16] and B [16, columns], widened to float32.
void product_read_a(product_operands *to, const warpgroup_product *product);
void product_read_b(product_operands *to, const warpgroup_product *product);

#endif

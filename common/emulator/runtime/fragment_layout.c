// The layouts are those of mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating
// point type"), put together as wmma does. wmma leaves its layout open; what stands here was read
// from the loads nvcc 13.0 makes of load_matrix_sync for sm_80 and for sm_90, which are the same,
// and agrees with Ootomo and Yokota, "WMMA API Extension" (wmma_extension, detail for sm_80).
// tests/emulator/wmma.cu compares it with the GPU it runs on.
//
// Fragments of A and B in half always have 16 elements: 8-row and 16-row ones hold theirs 4 times and
// twice. mma_sync reads the first ones alone. Those in bf16 have no copies.
#include "fragment_layout.h"

// 16 or 32 rows of A, or 32 columns of B: m16k16 fragments, one below the other.
static const fragment_pair tall_operand[] = {{0, 0},  {8, 0},  {0, 8},  {8, 8},
                                             {16, 0}, {24, 0}, {16, 8}, {24, 8}};
// 8 or 16 columns of B, or 8 rows of A: k16n8 fragments, side by side.
static const fragment_pair short_operand[] = {{0, 0}, {0, 8}, {8, 0}, {8, 8}};

// 16 x 16 accumulators are two m16n8 fragments side by side. The other shapes are two below each other;
// those of 8 x 32 are transposed, because the hardware computes the transpose, with A and B swapped.
static const fragment_pair square_accumulator[] = {{0, 0}, {8, 0}, {0, 8}, {8, 8}};
static const fragment_pair long_accumulator[] = {{0, 0}, {8, 0}, {16, 0}, {24, 0}};

static fragment_layout operand_layout(unsigned outer, bool tall, bool outer_is_row) {
  return (fragment_layout){.pair = tall ? tall_operand : short_operand,
                           .pairs = outer / 4,
                           .outer_is_row = outer_is_row};
}

fragment_layout fragment_layout_of(const emulator_fragment_type *type) {
  switch (type->use) {
  case EMULATOR_MATRIX_A: return operand_layout(type->m, type->m >= 16, true);
  case EMULATOR_MATRIX_B: return operand_layout(type->n, type->n >= 32, false);
  case EMULATOR_ACCUMULATOR: break;
  }
  return (fragment_layout){.pair = type->m == 16 ? square_accumulator : long_accumulator,
                           .pairs = 4,
                           .outer_is_row = type->m >= 16};
}

// The functions that <mma.h> calls: the matrix operations of a warp. Every function here is a warp
// collective: the last of the 32 lanes to arrive does the work once, for all. C17 and C++17, kernel side.
#ifndef TENSOR_CORE_H
#define TENSOR_CORE_H

#include "emulator.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  EMULATOR_MATRIX_A,   // [m, 16]
  EMULATOR_MATRIX_B,   // [16, n]
  EMULATOR_ACCUMULATOR // [m, n]
} emulator_fragment_use;

typedef enum { EMULATOR_FP16, EMULATOR_BF16, EMULATOR_FP32 } emulator_fragment_element;

// The type of a fragment, which holds one operand of an m x n x 16 product: 16 x 16, 32 x 8 or 8 x 32.
typedef struct {
  emulator_fragment_use use;
  emulator_fragment_element element;
  unsigned m, n;
  unsigned count; // elements that each lane holds; duplicates count
} emulator_fragment_type;

// Copies between `x`, the calling lane's elements, and the matrix at `memory`, whose rows (columns if
// column_major) start `leading_dimension` elements apart. Reports a fault when lanes are missing or
// differ in an argument other than `x`, when `memory` is not a multiple of 32 bytes, when the leading
// dimension is not a multiple of 16 bytes (CUDA C++ Programming Guide, "Warp Matrix Functions"), or when it is
// shorter than a row (a column if column_major), which PTX leaves undefined (PTX ISA, wmma.load, "stride").
EMULATOR_API void emulator_load_matrix(const emulator_fragment_type *type, void *x,
                                       const void *memory, unsigned leading_dimension,
                                       bool column_major, const emulator_site *site);
EMULATOR_API void emulator_store_matrix(const emulator_fragment_type *type, const void *x,
                                        void *memory, unsigned leading_dimension, bool column_major,
                                        const emulator_site *site);

// One lane's elements of the fragments of D = A B + C, all of the same m x n. D and C may be the same array.
typedef struct {
  const emulator_fragment_type *a_type, *b_type, *c_type, *d_type;
  const void *a, *b, *c;
  void *d;
} emulator_matrix_product;

// Each element of D is the element of C plus its 16 products, added one after the other as k
// rises, in float32, and rounded to D's type at the end. A tensor core adds several products
// at once and truncates other bits, so compare results by an error bound, not bit for bit.
EMULATOR_API void emulator_multiply_matrices(const emulator_matrix_product *product,
                                             const emulator_site *site);

// ---- Instructions below wmma ---------------------------------------------------------------------

// ldmatrix .m8n8.x4 (PTX ISA 9.0, 9.7.14.5.15) loads four 8x8 matrices of 16-bit elements. Lane i
// gives `row`, the address of row i % 8 of matrix i / 8. From each matrix it receives pair i % 4 of
// row i / 4 or, if transposed, rows 2 (i % 4) and 2 (i % 4) + 1 of column i / 4. Reports a fault
// when lanes are missing, or when `row` is not in shared memory or not a multiple of 16 bytes.
EMULATOR_API void emulator_load_matrices(unsigned fragments[4], const void *row, bool transposed,
                                         const emulator_site *site);

// One lane's registers of D [16, 8] = A [16, 16] B [16, 8] + C [16, 8]. D and C may be the same array.
typedef struct {
  const unsigned *a; // [4], two elements in each, as in b
  unsigned b[2];
  const float *c; // [4]
  float *d;       // [4]
} emulator_fragment_product;

// mma.sync .m16n8k16 with sums in float32 (PTX ISA 9.0, 9.7.14.5.8), which are added
// as in emulator_multiply_matrices. `element` is the type of A and B, fp16 or bf16.
EMULATOR_API void emulator_multiply_fragments(emulator_fragment_element element,
                                              const emulator_fragment_product *product,
                                              const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif

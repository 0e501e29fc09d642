#define _GNU_SOURCE
#include "product_operands.h"

#include "address_space.h"
#include "fault.h"
#include "observer.h"
#include "swizzle.h"

#include <string.h>

// The rows have 128 bytes and form groups of 8, which lie at multiples of 1024 bytes.
enum { SPAN = 128, GROUP_ROWS = 8, GROUP_BYTES = GROUP_ROWS * SPAN };
enum { ROW_ELEMENTS = SPAN / 2, PIECE_ELEMENTS = SWIZZLE_PIECE / 2 };

// ---- Descriptors: PTX ISA 9.0, 9.7.15.5.1.2.2 ---------------------------------------------------

typedef struct {
  uint32_t address; // of the first element, unswizzled
  uint32_t leading; // bytes to the next 64 columns of a transposed matrix
  uint32_t stride;  // bytes to the next 8 rows
  unsigned base_offset, swizzle;
} descriptor;

static descriptor decode(uint64_t word) {
  return (descriptor){.address = (word & 0x3FFF) << 4,
                      .leading = (word >> 16 & 0x3FFF) << 4,
                      .stride = (word >> 32 & 0x3FFF) << 4,
                      .base_offset = word >> 49 & 7,
                      .swizzle = word >> 62};
}

// The bytes from the first row to the end of the last.
static size_t extent(const descriptor *matrix, unsigned outer, bool transposed) {
  const unsigned rows = transposed ? K : outer;
  const unsigned panels = transposed ? (outer - 1) / ROW_ELEMENTS : 0;
  return (size_t)panels * matrix->leading + (size_t)(rows / GROUP_ROWS - 1) * matrix->stride +
         GROUP_BYTES;
}

void product_check_operand(uint64_t word, const char *name, unsigned outer, bool transposed,
                           const emulator_site *site) {
  const descriptor matrix = decode(word);
  if (matrix.swizzle != 1) {
    emulator_fault(
        cudaErrorLaunchFailure,
        "%s in %s:%d: the descriptor of %s says layout %u; the emulator has 1, that of the "
        "128-byte swizzle",
        site->operation, site->file, site->line, name, matrix.swizzle);
  }
  // Within a row the matrix may begin where the K columns still fit.
  const unsigned offset = matrix.address % GROUP_BYTES;
  if (matrix.base_offset != 0 || offset > (transposed ? 0 : SPAN - 2 * K)) {
    emulator_fault(
        cudaErrorMisalignedAddress,
        "%s in %s:%d: tile %s begins at 0x%x of shared memory: its swizzle repeats after "
        "%d bytes, and it must begin at a multiple of that",
        site->operation, site->file, site->line, name, matrix.address, GROUP_BYTES);
  }
  const uint32_t start = matrix.address - offset;
  const size_t bytes = extent(&matrix, outer, transposed);
  if (address_from_shared(current_worker, start, bytes) == NULL) {
    emulator_fault(
        cudaErrorIllegalAddress,
        "%s in %s:%d: shared memory does not hold tile %s of %zu bytes that begins at 0x%x "
        "of it",
        site->operation, site->file, site->line, name, bytes, start);
  }
}

// ---- Reading ------------------------------------------------------------------------------------

// The unswizzled address of the first K elements of row `outer` of A or of
// B^T, or of row k of B, from column `outer` on, which is a multiple of 64.
static uint32_t row_address(const descriptor *matrix, unsigned outer) {
  return matrix->address + outer / GROUP_ROWS * matrix->stride + outer % GROUP_ROWS * SPAN;
}
static uint32_t transposed_address(const descriptor *matrix, unsigned k, unsigned outer) {
  return row_address(matrix, k) + outer / ROW_ELEMENTS * matrix->leading;
}

// Reads `count` consecutive elements at an unswizzled address. The matrix starts at `start`, or `memory`.
static void read_elements(uint16_t *to, const char *memory, uint32_t start, uint32_t address,
                          unsigned count) {
  for (unsigned i = 0; i < count; i += PIECE_ELEMENTS) {
    const uint32_t place = swizzled_address(address + 2 * i, SPAN);
    memcpy(to + i, memory + (place - start), SWIZZLE_PIECE);
  }
}

// The address of the matrix's first row, a multiple of 1024 bytes.
static const char *first_row(const descriptor *matrix, uint32_t *start) {
  *start = matrix->address / GROUP_BYTES * GROUP_BYTES;
  return address_from_shared(current_worker, *start, GROUP_BYTES);
}

// Reads row `outer` of A or of B^T, which has K elements.
static void read_row(uint16_t to[K], const descriptor *matrix, const char *memory, uint32_t start,
                     unsigned outer) {
  read_elements(to, memory, start, row_address(matrix, outer), K);
}

#ifdef EMULATOR_OBSERVED
// Reads `count` consecutive elements at an unswizzled address.
static void announce_elements(uint32_t address, unsigned count, bool again,
                              const emulator_site *site) {
  worker *worker = current_worker;
  for (unsigned i = 0; i < count; i += PIECE_ELEMENTS) {
    const uint32_t place = swizzled_address(address + 2 * i, SPAN);
    observer_product_read(worker, address_from_shared(worker, place, SWIZZLE_PIECE), SWIZZLE_PIECE,
                          again, site);
  }
}
#endif

void product_announce(const emulator_warpgroup_product *product, bool all,
                      const emulator_site *site) {
#ifdef EMULATOR_OBSERVED
  const descriptor a = decode(product->a_descriptor), b = decode(product->b_descriptor);
  const unsigned rows = product->a_registers != NULL ? 0 : all ? PRODUCT_ROWS : 1;
  const unsigned columns = product->transposed ? 0 : all ? product->columns : 1;
  const unsigned depth = !product->transposed ? 0 : all ? K : 1;
  for (unsigned row = 0; row < rows; row++) {
    announce_elements(row_address(&a, row), K, !all, site);
  }
  for (unsigned n = 0; n < columns; n++) {
    announce_elements(row_address(&b, n), K, !all, site);
  }
  for (unsigned k = 0; k < depth; k++) {
    for (unsigned n = 0; n < product->columns; n += ROW_ELEMENTS) {
      const unsigned left = product->columns - n;
      announce_elements(transposed_address(&b, k, n), left < ROW_ELEMENTS ? left : ROW_ELEMENTS,
                        !all, site);
    }
  }
#else
  (void)product;
  (void)all;
  (void)site;
#endif
}

// The table of common/kernel/ptx.cuh says what a lane holds; row = lane / 4 and column = 2 (lane % 4).
static void read_registers(uint16_t to[PRODUCT_ROWS][K], const warpgroup_product *product) {
  for (unsigned thread = 0; thread < WARPGROUP_THREADS; thread++) {
    const unsigned lane = thread % GPU_WARP_LANES;
    const unsigned row = thread / GPU_WARP_LANES * 16 + lane / 4, column = lane % 4 * 2;
    for (unsigned i = 0; i < 4; i++)
      memcpy(&to[row + i % 2 * 8][column + i / 2 * 8], &product->a[thread][i], 4);
  }
}

void product_read_a(product_operands *to, const warpgroup_product *product) {
  uint16_t a[PRODUCT_ROWS][K];
  if (product->first.a_registers != NULL) {
    read_registers(a, product);
  } else {
    const descriptor matrix = decode(product->first.a_descriptor);
    uint32_t start;
    const char *memory = first_row(&matrix, &start);
    for (unsigned row = 0; row < PRODUCT_ROWS; row++) read_row(a[row], &matrix, memory, start, row);
  }
  matrix_widen(to->a[0], a[0], PRODUCT_ROWS * K, product->first.element);
}

void product_read_b(product_operands *to, const warpgroup_product *product) {
  const unsigned columns = product->first.columns;
  const descriptor matrix = decode(product->first.b_descriptor);
  uint16_t *b = to->b_bits;
  uint32_t start;
  const char *memory = first_row(&matrix, &start);
  if (product->first.transposed) {
    for (unsigned k = 0; k < K; k++) {
      for (unsigned n = 0; n < columns; n += ROW_ELEMENTS) {
        const unsigned left = columns - n, count = left < ROW_ELEMENTS ? left : ROW_ELEMENTS;
        read_elements(&b[k * columns + n], memory, start, transposed_address(&matrix, k, n), count);
      }
    }
  } else {
    for (unsigned n = 0; n < columns; n++) {
      uint16_t row[K];
      read_row(row, &matrix, memory, start, n);
      for (unsigned k = 0; k < K; k++) b[k * columns + n] = row[k];
    }
  }
  matrix_widen(to->b, b, K * columns, product->first.element);
}

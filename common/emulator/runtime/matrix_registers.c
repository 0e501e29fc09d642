// ldmatrix and mma.sync: the instructions that wmma is made of, with registers that the
// kernel itself manages. As in tensor_core.c the last lane to arrive does the work for all.
#define _GNU_SOURCE
#include "tensor_core.h"

#include "address_space.h"
#include "capability.h"
#include "matrix_fault.h"
#include "matrix_product.h"

#include <string.h>

// ---- ldmatrix -----------------------------------------------------------------------------------

enum { MATRICES = 4, ROWS = 8, ROW_BYTES = 16 };

typedef struct {
  const emulator_site *site; // first member, for matrix_check_warp
  unsigned *fragments;
  const char *row;
  bool transposed;
} load_call;

static void announce(const char *const row[32], const emulator_site *site) {
#ifdef EMULATOR_OBSERVED
  worker *worker = current_worker;
  observer_matrix_rows(worker, (const void *const *)row, site);
  thread *first = &worker->threads[worker->running->index / GPU_WARP_LANES * GPU_WARP_LANES];
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    observer_library_access(worker, &first[lane], row[lane], ROW_BYTES, OBSERVED_READ, site);
  }
#else
  (void)row;
  (void)site;
#endif
}

static void load_rows(void *operand[32], unsigned lanes) {
  matrix_check_warp(operand, lanes);
  const load_call *first = operand[0];
  const char *row[GPU_WARP_LANES];
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    row[lane] = ((const load_call *)operand[lane])->row;
  }
  announce(row, first->site);
  current_worker->accessing = first->site;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    unsigned *fragments = ((const load_call *)operand[lane])->fragments;
    for (unsigned matrix = 0; matrix < MATRICES; matrix++) {
      const char *const *rows = &row[ROWS * matrix];
      uint16_t pair[2];
      if (first->transposed) {
        memcpy(&pair[0], rows[lane % 4 * 2] + lane / 4 * 2, 2);
        memcpy(&pair[1], rows[lane % 4 * 2 + 1] + lane / 4 * 2, 2);
      } else {
        memcpy(pair, rows[lane / 4] + lane % 4 * 4, 4);
      }
      memcpy(&fragments[matrix], pair, 4);
    }
  }
  current_worker->accessing = NULL;
}

// It is checked before the lanes meet, so that the report names the lane.
static void check_row(const void *row, const emulator_site *site) {
  if (!emulator_is_shared(row)) {
    emulator_fault(cudaErrorInvalidAddressSpace,
                   "%s in %s:%d: the row is not in shared memory but at %s", site->operation,
                   site->file, site->line, address_describe(current_worker, row).text);
  }
  if ((uintptr_t)row % ROW_BYTES != 0) {
    emulator_fault(cudaErrorMisalignedAddress,
                   "%s in %s:%d: the row must begin at a multiple of 16 bytes, not at %s",
                   site->operation, site->file, site->line,
                   address_describe(current_worker, row).text);
  }
  if (!address_in_shared(current_worker, row, ROW_BYTES)) {
    emulator_fault(
        cudaErrorIllegalAddress,
        "%s in %s:%d: the row lies past the end of dynamic shared memory (%zu bytes asked for "
        "at the launch): %s",
        site->operation, site->file, site->line,
        current_worker->launch->request->dynamic_shared_bytes,
        address_describe(current_worker, row).text);
  }
}

void emulator_load_matrices(unsigned fragments[4], const void *row, bool transposed,
                            const emulator_site *site) {
  check_row(row, site);
  load_call call = {.site = site, .fragments = fragments, .row = row, .transposed = transposed};
  emulator_warp_collective(~0u, load_rows, &call, site);
}

// ---- mma.sync -----------------------------------------------------------------------------------

enum { M = 16, N = 8 };

typedef struct {
  const emulator_site *site;
  const emulator_fragment_product *product;
} product_call;

// The table of common/kernel/ptx.cuh says what lane l holds; here row = l / 4 and column = 2 (l % 4).
static void multiply(void *const operand[32], emulator_fragment_element element) {
  uint16_t a[M][K], b[K][N];
  product_matrices matrices;
  current_worker->accessing = ((const product_call *)operand[0])->site;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    const emulator_fragment_product *held = ((const product_call *)operand[lane])->product;
    const unsigned row = lane / 4, column = lane % 4 * 2;
    memcpy(&a[row][column], &held->a[0], 4);
    memcpy(&a[row + 8][column], &held->a[1], 4);
    memcpy(&a[row][column + 8], &held->a[2], 4);
    memcpy(&a[row + 8][column + 8], &held->a[3], 4);
    for (unsigned i = 0; i < 2; i++) {
      b[column + i * 8][row] = held->b[i] & 0xFFFF;
      b[column + i * 8 + 1][row] = held->b[i] >> 16;
      memcpy(&matrices.sum[row + i * 8][column], &held->c[2 * i], 2 * sizeof(float));
    }
  }
  matrix_widen(matrices.tall[0], a[0], M * K, element);
  for (unsigned k = 0; k < K; k++) matrix_widen(matrices.flat[k], b[k], N, element);
  matrix_multiply_add(matrices.sum[0], matrices.tall[0], matrices.flat[0], M, N, K);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    float *d = ((const product_call *)operand[lane])->product->d;
    for (unsigned i = 0; i < 2; i++) {
      memcpy(&d[2 * i], &matrices.sum[lane / 4 + i * 8][lane % 4 * 2], 2 * sizeof(float));
    }
  }
  current_worker->accessing = NULL;
  matrix_product_count(1, ((const product_call *)operand[0])->site);
}

// There is one operation for each type, so that lanes with different types cannot meet.
static void multiply_fp16(void *operand[32], unsigned lanes) {
  matrix_check_warp(operand, lanes);
  multiply(operand, EMULATOR_FP16);
}

static void multiply_bf16(void *operand[32], unsigned lanes) {
  matrix_check_warp(operand, lanes);
  multiply(operand, EMULATOR_BF16);
}

void emulator_multiply_fragments(emulator_fragment_element element,
                                 const emulator_fragment_product *product,
                                 const emulator_site *site) {
  capability_check(current_worker, 80, "the product m16n8k16", site);
  history_did(current_worker, site, NULL);
  product_call call = {.site = site, .product = product};
  emulator_warp_collective(~0u, element == EMULATOR_FP16 ? multiply_fp16 : multiply_bf16, &call,
                           site);
}

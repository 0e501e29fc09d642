// The matrix operations of a warp. The last lane to arrive does the work for
// all: it collects the lanes' elements into float32 matrices, which the
// compiler's vector instructions multiply, and returns the results to the lanes.
#define _GNU_SOURCE
#include "tensor_core.h"

#include "block.h"
#include "capability.h"
#include "fragment_layout.h"
#include "matrix_fault.h"
#include "matrix_product.h"
#include "numeric/float16.h"
#include "observer.h"

#include <string.h>

enum { COUNT_MAX = 16, ACCUMULATOR_COUNT = 8 };

// ---- Elements -----------------------------------------------------------------------------------

static void widen(float *to, const void *from, unsigned count, emulator_fragment_element element) {
  if (element == EMULATOR_FP32) {
    memcpy(to, from, ACCUMULATOR_COUNT * sizeof *to);
  } else {
    matrix_widen(to, from, count, element);
  }
}

// The elements of an accumulator.
static void narrow(void *to, const float *from, emulator_fragment_element element) {
  if (element == EMULATOR_FP32) {
    memcpy(to, from, ACCUMULATOR_COUNT * sizeof *from);
  } else {
    uint16_t *bits = to;
    for (unsigned i = 0; i < ACCUMULATOR_COUNT; i++) bits[i] = fp16_from_float(from[i]);
  }
}

// ---- Load and store -----------------------------------------------------------------------------

// Bytes from the matrix's start to the lane's first element of pair `p`, and from there to the
// second.
typedef struct {
  size_t first, step;
} pair_place;

static pair_place place_of(const matrix_memory_call *call, const fragment_layout *layout,
                           unsigned lane, unsigned p) {
  const size_t bytes = matrix_element_bytes(call->type);
  const fragment_place place =
      fragment_place_of(layout, lane, p, call->leading_dimension, call->column_major);
  return (pair_place){place.first * bytes, place.step * bytes};
}

// The sizes are constant, so that the compiler makes single instructions of the copies.
static inline void copy_element(void *to, const void *from, size_t bytes) {
  if (bytes == 2) {
    memcpy(to, from, 2);
  } else {
    memcpy(to, from, 4);
  }
}

// Tells the observer which parts of the matrix each lane is about to read or write.
static void announce(const matrix_memory_call *call, const fragment_layout *layout) {
#ifdef EMULATOR_OBSERVED
  worker *worker = current_worker;
  const unsigned bytes = matrix_element_bytes(call->type);
  const observed_kind kind = call->store ? OBSERVED_WRITE : OBSERVED_READ;
  const unsigned rows = call->type->use == EMULATOR_MATRIX_B ? K : call->type->m;
  const unsigned columns = call->type->use == EMULATOR_MATRIX_A ? K : call->type->n;
  observer_matrix_access(worker, call->memory, call->column_major ? columns : rows,
                         bytes * (call->column_major ? rows : columns),
                         (size_t)call->leading_dimension * bytes, kind, call->site);
  thread *first = &worker->threads[worker->running->index / GPU_WARP_LANES * GPU_WARP_LANES];
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    for (unsigned p = 0; p < layout->pairs; p++) {
      const pair_place place = place_of(call, layout, lane, p);
      const char *at = (const char *)call->memory + place.first;
      const bool together = place.step == bytes;
      observer_library_access(worker, &first[lane], at, together ? 2 * bytes : bytes, kind,
                              call->site);
      if (!together) {
        observer_library_access(worker, &first[lane], at + place.step, bytes, kind, call->site);
      }
    }
  }
#else
  (void)call;
  (void)layout;
#endif
}

// A load or a store of all lanes, which are checked.
typedef struct {
  const matrix_memory_call *first; // of lane 0
  fragment_layout layout;
  size_t bytes; // of an element
} matrix_access;

// The caller sets current_worker->accessing back to NULL in the end.
static matrix_access begin_access(void *operand[32], unsigned lanes) {
  matrix_check_warp(operand, lanes);
  matrix_check_memory(operand);
  const matrix_memory_call *first = operand[0];
  const matrix_access access = {first, fragment_layout_of(first->type),
                                matrix_element_bytes(first->type)};
  announce(first, &access.layout);
  current_worker->accessing = first->site;
  return access;
}

static void load(void *operand[32], unsigned lanes) {
  const matrix_access access = begin_access(operand, lanes);
  const matrix_memory_call *first = access.first;
  const size_t bytes = access.bytes;
  const size_t distinct = 2 * access.layout.pairs * bytes, all = first->type->count * bytes;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    char *x = ((const matrix_memory_call *)operand[lane])->x;
    for (unsigned p = 0; p < access.layout.pairs; p++) {
      const pair_place place = place_of(first, &access.layout, lane, p);
      const char *from = (const char *)first->memory + place.first;
      copy_element(x + 2 * p * bytes, from, bytes);
      copy_element(x + (2 * p + 1) * bytes, from + place.step, bytes);
    }
    for (size_t copied = distinct; copied < all; copied += distinct) {
      memcpy(x + copied, x, distinct);
    }
  }
  current_worker->accessing = NULL;
}

static void store(void *operand[32], unsigned lanes) {
  const matrix_access access = begin_access(operand, lanes);
  const matrix_memory_call *first = access.first;
  const size_t bytes = access.bytes;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    const char *x = ((const matrix_memory_call *)operand[lane])->x;
    for (unsigned p = 0; p < access.layout.pairs; p++) {
      const pair_place place = place_of(first, &access.layout, lane, p);
      char *to = (char *)first->memory + place.first;
      copy_element(to, x + 2 * p * bytes, bytes);
      copy_element(to + place.step, x + (2 * p + 1) * bytes, bytes);
    }
  }
  current_worker->accessing = NULL;
}

// fp16 is supported by all tensor cores.
static void check_element(const emulator_fragment_type *type, const emulator_site *site) {
  if (type->element == EMULATOR_BF16)
    capability_check(current_worker, 80, "bf16 in a fragment", site);
}

void emulator_load_matrix(const emulator_fragment_type *type, void *x, const void *memory,
                          unsigned leading_dimension, bool column_major,
                          const emulator_site *site) {
  check_element(type, site);
  matrix_memory_call call = {.site = site,
                             .type = type,
                             .x = x,
                             .memory = (void *)(uintptr_t)memory,
                             .leading_dimension = leading_dimension,
                             .column_major = column_major,
                             .store = false};
  emulator_warp_collective(~0u, load, &call, site);
}

void emulator_store_matrix(const emulator_fragment_type *type, const void *x, void *memory,
                           unsigned leading_dimension, bool column_major,
                           const emulator_site *site) {
  matrix_memory_call call = {.site = site,
                             .type = type,
                             .x = (void *)(uintptr_t)x,
                             .memory = memory,
                             .leading_dimension = leading_dimension,
                             .column_major = column_major,
                             .store = true};
  emulator_warp_collective(~0u, store, &call, site);
}

// ---- Product ------------------------------------------------------------------------------------

// Collects the matrix whose elements the lanes hold at `x`, by outer index.
static void gather(float to[][K], const void *const x[32], const emulator_fragment_type *type) {
  const fragment_layout layout = fragment_layout_of(type);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    float values[COUNT_MAX];
    widen(values, x[lane], 2 * layout.pairs, type->element);
    for (unsigned p = 0; p < layout.pairs; p++) {
      float *pair = &to[lane / 4 + layout.pair[p].outer][lane % 4 * 2 + layout.pair[p].inner];
      pair[0] = values[2 * p];
      pair[1] = values[2 * p + 1];
    }
  }
}

// Does the same by inner index.
static void gather_transposed(float to[][K], const void *const x[32],
                              const emulator_fragment_type *type) {
  const fragment_layout layout = fragment_layout_of(type);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    float values[COUNT_MAX];
    widen(values, x[lane], 2 * layout.pairs, type->element);
    for (unsigned p = 0; p < layout.pairs; p++) {
      const unsigned outer = lane / 4 + layout.pair[p].outer;
      const unsigned inner = lane % 4 * 2 + layout.pair[p].inner;
      to[inner][outer] = values[2 * p];
      to[inner + 1][outer] = values[2 * p + 1];
    }
  }
}

static void scatter(void *const x[32], const emulator_fragment_type *type, const float from[][K]) {
  const fragment_layout layout = fragment_layout_of(type);
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    float values[COUNT_MAX];
    for (unsigned p = 0; p < layout.pairs; p++) {
      const float *pair =
          &from[lane / 4 + layout.pair[p].outer][lane % 4 * 2 + layout.pair[p].inner];
      values[2 * p] = pair[0];
      values[2 * p + 1] = pair[1];
    }
    narrow(x[lane], values, type->element);
  }
}

static void multiply(void *operand[32], unsigned lanes) {
  matrix_check_warp(operand, lanes);
  const void *a[GPU_WARP_LANES], *b[GPU_WARP_LANES], *c[GPU_WARP_LANES];
  void *d[GPU_WARP_LANES];
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++) {
    const emulator_matrix_product *product = ((const matrix_product_call *)operand[lane])->product;
    a[lane] = product->a;
    b[lane] = product->b;
    c[lane] = product->c;
    d[lane] = product->d;
  }
  const emulator_matrix_product *first = ((const matrix_product_call *)operand[0])->product;
  const bool swapped = first->a_type->m == 8;
  product_matrices matrices;
  current_worker->accessing = ((const matrix_product_call *)operand[0])->site;
  gather(matrices.tall, swapped ? b : a, swapped ? first->b_type : first->a_type);
  gather_transposed(matrices.flat, swapped ? a : b, swapped ? first->a_type : first->b_type);
  gather(matrices.sum, c, first->c_type);
  if (first->a_type->m == 16) {
    matrix_multiply_add(matrices.sum[0], matrices.tall[0], matrices.flat[0], 16, 16, K);
  } else {
    matrix_multiply_add(matrices.sum[0], matrices.tall[0], matrices.flat[0], 32, 8, K);
  }
  scatter(d, first->d_type, (const float(*)[K])matrices.sum);
  current_worker->accessing = NULL;
  matrix_product_count(2, ((const matrix_product_call *)operand[0])->site);
}

void emulator_multiply_matrices(const emulator_matrix_product *product, const emulator_site *site) {
  check_element(product->a_type, site);
  history_did(current_worker, site, NULL);
  matrix_product_call call = {.site = site, .product = product};
  emulator_warp_collective(~0u, multiply, &call, site);
}

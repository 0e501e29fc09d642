// Operations that count as others than they look, or not at all.
#include "operations.h"

#include "emulator/count.h"

#include <criterion/criterion.h>

static void expect(count_column column, uint64_t expected) {
  const uint64_t counted = emulator_count_total().value[column];
  cr_expect_eq(counted, expected, "%s is %lu, not %lu", column_names[column].name,
               (unsigned long)counted, (unsigned long)expected);
}

// A copy does not read the bytes that it fills with zeros.
Test(operations, copies_with_zeros) {
  emulator_count_reset();
  cr_assert(operations_run_zeros());
  expect(COUNT_ASYNC_COPY_BYTES, 16 * 16 + 16 * 4);
  emulator_count_reset();
  cr_assert(operations_run_box());
  expect(COUNT_ASYNC_COPY_BYTES, 20 * 64 * 2);
}

// Atomic operations are no loads and stores.
Test(operations, atomics) {
  emulator_count_reset();
  cr_assert(operations_run_atomics());
  expect(COUNT_GLOBAL_LOAD_REQUESTS, 0);
  expect(COUNT_GLOBAL_STORE_REQUESTS, 0);
}

Test(operations, memory_of_both) {
  emulator_count_reset();
  cr_assert(operations_run_others());
  expect(COUNT_GLOBAL_LOAD_REQUESTS, 1);
  expect(COUNT_GLOBAL_LOAD_SECTORS, 4);
  expect(COUNT_GLOBAL_STORE_REQUESTS, 1);
  expect(COUNT_GLOBAL_STORE_SECTORS, 4);
}

// Those of a tensor core have 2048 products each. The operands are read past the warp's loads.
Test(operations, product) {
  emulator_count_reset();
  cr_assert(operations_run_product());
  expect(COUNT_TENSOR_CORE_OPERATIONS, 64 * 64 * 16 / 2048);
  expect(COUNT_SHARED_LOAD_REQUESTS, 0);
}

// Lanes with accesses of different sizes have no request in common.
Test(operations, sizes) {
  emulator_count_reset();
  cr_assert(operations_run_pieces());
  expect(COUNT_GLOBAL_LOAD_REQUESTS, 2);
  expect(COUNT_GLOBAL_LOAD_SECTORS, 8);
  expect(COUNT_GLOBAL_STORE_REQUESTS, 2);
  expect(COUNT_GLOBAL_STORE_SECTORS, 8);
}

Test(operations, call) {
  emulator_count_reset();
  cr_assert(operations_run_call());
  expect(COUNT_GLOBAL_LOAD_REQUESTS, 1);
  expect(COUNT_GLOBAL_STORE_REQUESTS, 1);
}

// A lane's pairs of this shape lie in a column each: they are neighbours where columns lie in one piece.
Test(operations, wide_matrix) {
  emulator_count_reset();
  cr_assert(operations_run_wide(true));
  expect(COUNT_GLOBAL_STORE_REQUESTS, 4);
  emulator_count_reset();
  cr_assert(operations_run_wide(false));
  expect(COUNT_GLOBAL_STORE_REQUESTS, 8);
}

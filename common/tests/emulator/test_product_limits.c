// Tests products of all widths against sums on the host, and what the emulator says of those that it refuses.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "product_limits.h"

// ---- Right products -----------------------------------------------------------------------------

// The numbers are whole and small, so that no sum is rounded.
static void check(unsigned columns, bool transposed, unsigned offset) {
  static float A[LIMITS_ROWS * LIMITS_K], B[LIMITS_K * LIMITS_COLUMNS_MAX],
      D[LIMITS_ROWS * LIMITS_COLUMNS_MAX];
  for (int i = 0; i < LIMITS_ROWS * LIMITS_K; i++) A[i] = (float)(i * 7 % 13 - 6);
  for (unsigned i = 0; i < LIMITS_K * columns; i++) B[i] = (float)((int)(i * 5 % 17) - 8);
  product_of(columns, transposed, offset, A, B, D);
  cr_assert_eq(cudaGetLastError(), cudaSuccess);
  for (unsigned m = 0; m < LIMITS_ROWS; m++) {
    for (unsigned n = 0; n < columns; n++) {
      float sum = 0;
      for (unsigned k = 0; k < LIMITS_K; k++) sum += A[m * LIMITS_K + k] * B[k * columns + n];
      cr_assert_eq(D[m * columns + n], sum, "%u columns%s: D (%u, %u) is %g, not %g", columns,
                   transposed ? " transposed" : "", m, n, (double)D[m * columns + n], (double)sum);
    }
  }
}

// A group counts if it is committed between the wait for a turn and the arrival that passes it.
Test(product_limits, turns) {
  emulator_counts_reset();
  groups_in_turns();
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  const uint64_t groups = emulator_counts_read().product_groups_in_turns;
  cr_expect_eq(groups, 3, "%llu groups", (unsigned long long)groups);
}

Test(product_limits, widths) {
  static const unsigned columns[] = {8, 24, 32, 40, 64, 72, 136, 256};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    check(columns[i], false, 0);
    check(columns[i], true, 0);
  }
}

// An H200 has 227 KiB of shared memory for a block, so addresses take 18 bits.
Test(product_limits, high_addresses) {
  check(64, false, 140 * 1024);
  check(64, true, 140 * 1024);
}

// More than there are accumulators, and in blocks one behind the other.
Test(product_limits, many_one_after_the_other) {
  setenv("EMU_WORKERS", "1", 1);
  cr_expect_eq(wrong_of_many_products(), 0);
  cr_expect_eq(cudaGetLastError(), cudaSuccess);
}

// ---- Refused ones -------------------------------------------------------------------------------

static difference wanted;
static void start_different(void) { fault_of_difference(wanted); }

Test(product_limits, differences) {
  static const struct {
    difference of;
    const char *what;
  } cases[] = {
      {OTHER_A, "give another descriptor of A"},     {OTHER_CLEAR, "ask for another product"},
      {OTHER_COLUMNS, "ask for another product"},    {OTHER_ELEMENT, "ask for another product"},
      {OTHER_TRANSPOSED, "ask for another product"}, {OTHER_REGISTERS, "ask for another product"},
      {OTHER_FILE, "come to another line"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    wanted = cases[i].of;
    expect_report(
        &(fault_case){start_different,
                      cudaErrorLaunchFailure,
                      {": all threads of a warpgroup must start the same product: others of them ",
                       cases[i].what, "by thread (64,0,0)"}});
  }
}

static odd_product odd;
static void start_odd(void) { fault_of_odd_product(&odd); }
static void expect_odd(odd_product wanted_product, cudaError_t error, const char *says) {
  odd = wanted_product;
  expect_report(&(fault_case){start_odd, error, {"wgmma.mma_async in product_limits:1", says}});
}

Test(product_limits, columns) {
  static const char says[] = " columns: there are products of 8, 16, ... 256\n";
  expect_odd((odd_product){.columns = 0, .swizzle = 1}, cudaErrorLaunchFailure, says);
  expect_odd((odd_product){.columns = 12, .swizzle = 1}, cudaErrorLaunchFailure, says);
  expect_odd((odd_product){.columns = 264, .swizzle = 1}, cudaErrorLaunchFailure, says);
}

Test(product_limits, descriptors) {
  expect_odd((odd_product){.columns = 64, .swizzle = 2}, cudaErrorLaunchFailure,
             ": the descriptor of B says layout 2; the emulator has 1");
  static const char begins[] = ": its swizzle repeats after 1024 bytes, and it must begin at a ";
  for (unsigned bit = 0; bit < 3; bit++) {
    expect_odd((odd_product){.columns = 64, .swizzle = 1, .base_offset = 1u << bit},
               cudaErrorMisalignedAddress, begins);
  }
  expect_odd((odd_product){.columns = 64, .swizzle = 1, .byte_offset = 112},
             cudaErrorMisalignedAddress, begins);
  expect_odd((odd_product){.columns = 64, .swizzle = 1, .byte_offset = 32, .transposed = true},
             cudaErrorMisalignedAddress, begins);
}

// The second panel of 64 columns lies past the end of shared memory, where the first one is within.
Test(product_limits, panels) {
  expect_odd((odd_product){.columns = 128, .swizzle = 1, .leading = 65536, .transposed = true},
             cudaErrorIllegalAddress, ": shared memory does not hold tile B of 67584 bytes");
  odd = (odd_product){.columns = 64, .swizzle = 1, .leading = 65536, .transposed = true};
  start_odd();
  cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess);
}

Test(product_limits, instructions) {
  expect_report(&(fault_case){
      fault_instructions,
      cudaErrorLaunchFailure,
      {"wgmma.commit_group in first.cu:5: all threads of a warpgroup must execute the same "
       "instruction: others of them come to wgmma.fence in first.cu:5"}});
  expect_report(
      &(fault_case){fault_files,
                    cudaErrorLaunchFailure,
                    {"wgmma.fence in second.cu:5: all threads of a warpgroup must execute the same "
                     "instruction: others of them come to wgmma.fence in first.cu:5"}});
}

// No more are kept than a thread may be ahead. It may be further ahead, and is then not looked at.
Test(product_limits, many_instructions) {
  expect_report(
      &(fault_case){fault_instructions_late,
                    cudaErrorLaunchFailure,
                    {"wgmma.fence in fourth.cu:7: all threads of a warpgroup must execute "
                     "the same instruction: others of them come to wgmma.fence in "
                     "third.cu:7"}});
  right_instructions_ahead();
  cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess);
}

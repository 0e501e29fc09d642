// Tests the emulator's reports about kernels that break the rules of products and of the registers of warp groups, and the
// values that kernels without the wait see.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "product_faults.h"

#include <math.h>

#define FILE_NAME "common/tests/emulator/product_faults.cu:"

static void expect(void (*launch)(void), cudaError_t error, const char *operation,
                   const char *first, const char *second) {
  expect_in_line(&(line_case){launch, error, FILE_NAME, &fault_line, {operation, first, second}});
}

#define FAILURE    cudaErrorLaunchFailure
#define MISALIGNED cudaErrorMisalignedAddress
#define ILLEGAL    cudaErrorIllegalAddress

Test(product_faults, products) {
  expect(fault_product_layout, FAILURE, "wgmma.mma_async",
         ": the descriptor of A says layout 0; the emulator has 1", NULL);
  expect(
      fault_product_alignment, MISALIGNED, "wgmma.mma_async", ": tile B begins at 0x",
      "80 of shared memory: its swizzle repeats after 1024 bytes, and it must begin at a multiple");
  expect(fault_product_past_shared, ILLEGAL, "wgmma.mma_async",
         ": shared memory does not hold tile B of 8192 bytes that begins at 0x", NULL);
  expect(fault_product_short_group, FAILURE, "wgmma.mma_async",
         ": a warpgroup is four warps, and the block's last one has 96 threads\n", NULL);
  expect(fault_product_differs, FAILURE, "wgmma.mma_async",
         ": all threads of a warpgroup must start the same product: others of them give another "
         "descriptor of B",
         "by thread (64,0,0)");
  expect(fault_product_copies, FAILURE, "wgmma.mma_async",
         ": all threads of a warpgroup must start the same product: others of them come to another "
         "copy of the line, since the function around it is called in several places",
         "by thread (64,0,0)");
  expect(fault_product_lines, FAILURE, "wgmma.mma_async",
         ": all threads of a warpgroup must start the same product: others of them come to another "
         "line (common/tests/emulator/product_faults.cu:",
         "by thread (64,0,0)");
  expect(fault_product_fewer, FAILURE, "wgmma.commit_group",
         ": the thread commits 0 products, others of its warpgroup 1\n", "by thread (96,0,0)");
  expect(fault_product_waits, FAILURE, "wgmma.wait_group",
         ": all threads of a warpgroup must execute the same instruction: others of them come to "
         "wgmma.wait_group in ",
         "by thread (64,0,0)");
  expect(fault_product_last_wait, FAILURE, "wgmma.wait_group",
         ": all threads of a warpgroup must execute the same instruction: 32 of the 128 threads "
         "have ended without it\n",
         "in threads 0-127 of block (0,0,0)\n");
  expect(fault_product_first_wait, FAILURE, "wgmma.wait_group",
         ": all threads of a warpgroup must execute the same instruction: 32 of the 128 threads "
         "have ended without it\n",
         NULL);
  expect(fault_product_warp_missing, FAILURE, "threads 0-95 (warps 0-2) wait at wgmma.wait_group",
         " for products that 96 of the warpgroup's 128 threads have committed\n",
         "threads 96-127 (warp 3) have exited\n");
  expect(fault_product_groups, cudaErrorLaunchOutOfResources, "wgmma.mma_async",
         ": the warpgroup has not waited for the last 16 groups", NULL);
}

Test(product_faults, products_come_late) {
  float seen[SEEN_OF_PRODUCTS];
  seen_of_products(seen);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert(isnan(seen[0]), "without a commit: %g", (double)seen[0]);
  cr_assert(isnan(seen[1]), "before the wait: %g", (double)seen[1]);
  cr_assert_float_eq(seen[2], 16.0f, 0.0f, "after the wait: %g", (double)seen[2]);
  cr_assert_float_eq(seen[3], 8.0f, 0.0f, "with another A by then: %g", (double)seen[3]);
  cr_assert_float_eq(seen[4], 15.0f, 0.0f, "with another B by then: %g", (double)seen[4]);
}

// The launch has three 64 x 64 x 16 products.
Test(product_faults, counts) {
  float seen[SEEN_OF_PRODUCTS];
  emulator_counts_reset();
  seen_of_products(seen);
  cr_assert_eq(emulator_counts_read().tensor_core_operations, 3 * 64 * 64 * 16 / 2048);
}

Test(product_faults, registers) {
  expect(fault_registers_number, FAILURE, "setmaxnreg.inc",
         ": 252 registers: give a multiple of 8 from 24 to 256\n", NULL);
  expect(fault_registers_none, FAILURE, "threads 0-127 (warps 0-3) wait at setmaxnreg.inc",
         " for 128 threads' registers that no warp gives away\n",
         "threads 128-255 (warps 4-7) wait");
  expect(fault_registers_warp, FAILURE, "threads 0-31, 64-127 (warps 0-3) wait at setmaxnreg.inc",
         " for the rest of the warpgroup's 128 threads\n", "threads 32-63 (warp 1) have exited\n");
}

Test(product_faults, numbers_of_registers) {
  expect(fault_registers_few, FAILURE, "setmaxnreg.dec",
         ": 16 registers: give a multiple of 8 from 24 to 256\n", NULL);
  expect(fault_registers_many, FAILURE, "setmaxnreg.inc",
         ": 264 registers: give a multiple of 8 from 24 to 256\n", NULL);
  expect(fault_registers_not_fewer, FAILURE, "setmaxnreg.dec",
         ": the threads have 248 registers each, which 256 are not fewer than\n", NULL);
  expect(fault_registers_not_more, FAILURE, "setmaxnreg.inc",
         ": the threads have 248 registers each, which 240 are not more than\n", NULL);
  expect(fault_registers_threads, FAILURE, "setmaxnreg.dec",
         ": a warpgroup is four warps, and the block has 160 threads\n", NULL);
  expect(fault_registers_differ, FAILURE, "setmaxnreg.dec",
         ": threads of one warpgroup ask for 40 registers and for 48\n", "by thread (64,0,0)");
  right_registers();
  cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess);
}

Test(product_faults, other_gpus) {
  setenv("EMU_GPU", "a100", 1);
  expect(fault_registers_number, cudaErrorNoKernelImageForDevice, "setmaxnreg.inc",
         ": the Emulated NVIDIA A100-SXM4-80GB has compute capability 8.0", NULL);
}

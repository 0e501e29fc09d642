// Tests the emulator's reports about kernels that break the rules of tensor
// cores and asynchronous copies, and its treatment of kernels that do not wait.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "tensor_faults.h"

#include <math.h>

// ---- Matrices -----------------------------------------------------------------------------------

// A report says "at load_kernel in .../tensor_faults.cu:30": the line is known after the kernel has run.
typedef struct {
  char text[256];
} place_text;

static place_text place_of(void (*launch)(void), const char *before) {
  free(stderr_of(launch));
  cudaDeviceReset();
  place_text place;
  snprintf(place.text, sizeof place.text, "%.200s%d\n", before, fault_line);
  return place;
}

#define FILE_NAME "common/tests/emulator/tensor_faults.cu:"

static void expect_misaligned(void (*launch)(void), const char *kernel, const char *title,
                              const char *by, const char *detail, const char *hint) {
  char before[128];
  snprintf(before, sizeof before, "at %s in " FILE_NAME, kernel);
  const place_text place = place_of(launch, before);
  expect_report(
      &(fault_case){launch, cudaErrorMisalignedAddress, {title, place.text, by, detail, hint}});
}

Test(matrix_faults, alignment) {
  setenv("EMU_WORKERS", "1", 1); // the first block is the first to fail
  expect_misaligned(fault_matrix_pointer, "load_kernel",
                    "========= Invalid __shared__ read by wmma::load_matrix_sync(): the pointer "
                    "must be a multiple of 32 bytes\n",
                    "by warp 0 (threads 0-31) in block (0,0,0)\n",
                    "    address 0x82 of dynamic shared memory is not a multiple of 32\n",
                    "in kernel load_kernel\n");
  expect_misaligned(
      fault_matrix_place, "load_kernel", "the pointer must be", "by warp 0",
      "    address 0x40 of dynamic shared memory is not a multiple of 32\n",
      "    hint: CUDA promises dynamic shared memory at a multiple of 16 bytes and no "
      "more: declare it as extern __shared__ __align__(32)\n");
  expect_misaligned(fault_matrix_every_second, "static_rows_kernel", "the pointer must be",
                    "by warp 0", "address K_smem + 0x90",
                    "hint: ldm is 72: row stride is 144 bytes; only every second row can be the "
                    "first of a matrix\n");
  expect_misaligned(fault_matrix_stride, "static_load_kernel",
                    "========= Invalid __shared__ read by wmma::load_matrix_sync(): the leading "
                    "dimension must be a multiple of 16 bytes\n",
                    "by warp 0 (threads 0-31) in block (0,0,0)\n",
                    "    hint: ldm is 65: column stride is 130 bytes; pad by 8 elements, not 1\n",
                    "cudaErrorMisalignedAddress until cudaDeviceReset");
  expect_misaligned(fault_matrix_store, "store_kernel",
                    "========= Invalid __global__ write by wmma::store_matrix_sync(): the leading "
                    "dimension",
                    "in block (0,0,0)\n",
                    "    hint: ldm is 66: column stride is 264 bytes; pad by 4 elements, not 2\n",
                    "in kernel store_kernel\n");
}

static void expect_overlapping(void (*launch)(void), const char *kernel, const char *title,
                               const char *lines) {
  char before[128];
  snprintf(before, sizeof before, "at %s in " FILE_NAME, kernel);
  const place_text place = place_of(launch, before);
  expect_report(
      &(fault_case){launch, cudaErrorLaunchFailure, {title, place.text, "by warp 0", lines}});
}

Test(matrix_faults, lines_that_overlap) {
  setenv("EMU_WORKERS", "1", 1);
  expect_overlapping(fault_matrix_columns_overlap, "repeated_kernel",
                     "========= wmma::load_matrix_sync() needs columns that do not overlap: the "
                     "leading dimension must be at least 16\n",
                     "    ldm is 0, and a column of this fragment has 16 elements\n"
                     "=========     hint: PTX leaves the result undefined; store equal columns one "
                     "after the other\n");
  expect_overlapping(fault_matrix_rows_overlap, "repeated_kernel", "needs rows that do not",
                     "ldm is 8, and a row of this fragment has 16 elements\n");
  expect_overlapping(fault_matrix_store_overlaps, "store_kernel", "wmma::store_matrix_sync() needs",
                     "ldm is 12, and a column of this fragment has 16 elements\n");
  matrix_shortest_lines();
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
}

Test(matrix_faults, lanes) {
  const place_text mma =
      place_of(fault_matrix_missing_lane,
               "threads 0-6, 8-31 (warp 0) wait at wmma::mma_sync() in " FILE_NAME);
  char all_but_newline[sizeof mma.text];
  snprintf(all_but_newline, sizeof all_but_newline,
           "%.*s for the lanes 0xffffffff, of which 0x00000080 have not come\n",
           (int)strlen(mma.text) - 1, mma.text);
  expect_report(&(fault_case){fault_matrix_missing_lane,
                              cudaErrorLaunchFailure,
                              {"Deadlock", all_but_newline, "thread 7 (warp 0) wait"}});
  expect_report(&(fault_case){
      fault_matrix_short_warp,
      cudaErrorLaunchFailure,
      {"========= wmma::store_matrix_sync() needs all 32 lanes of the warp, "
       "but the lanes 0xffff0000 do not exist or have exited\n",
       "at store_kernel in " FILE_NAME, "by warp 1 (threads 32-47) in block (0,0,0)\n"}});
  expect_report(&(fault_case){
      fault_matrix_pointers_differ,
      cudaErrorLaunchFailure,
      {"========= wmma::load_matrix_sync() must be given the same matrix by all lanes of a warp\n",
       "at different_kernel in " FILE_NAME, "    lane 0 gives address memory + 0x0\n",
       "    lane 9 gives address memory + 0x40\n", "by warp 0 (threads 0-31)"}});
  expect_report(
      &(fault_case){fault_matrix_ldm_differs,
                    cudaErrorLaunchFailure,
                    {"lane 0 gives the leading dimension 32, lane 9 gives 16\n", "by warp 0"}});
  expect_report(&(fault_case){fault_matrix_layout_differs,
                              cudaErrorLaunchFailure,
                              {"lane 0 and lane 9 give different layouts\n", "by warp 0"}});
  const place_text first =
      place_of(fault_matrix_lines_differ, "    lane 0 comes to the one in " FILE_NAME);
  char other[128];
  snprintf(other, sizeof other, "    lane 20 comes to the one in " FILE_NAME "%d\n",
           other_fault_line);
  expect_report(&(fault_case){fault_matrix_lines_differ,
                              cudaErrorLaunchFailure,
                              {"========= Divergent threads in a warp: the lanes must come to the "
                               "same wmma::mma_sync()\n",
                               first.text, other}});
}

Test(matrix_faults, past_the_end) {
  const place_text place =
      place_of(fault_matrix_past_end, "at wmma::store_matrix_sync() in " FILE_NAME);
  expect_report(&(fault_case){
      fault_matrix_past_end,
      cudaErrorIllegalAddress,
      {"past the end of an allocation of 4096 bytes\n", place.text, "in kernel store_kernel\n"}});
}

Test(fragments, unfilled_are_nan) { cr_assert_eq(readable_fragment_elements(), 0); }

// ---- ldmatrix and mma.sync ----------------------------------------------------------------------

Test(register_faults, rows) {
  expect_report(&(fault_case){fault_rows_misaligned,
                              cudaErrorMisalignedAddress,
                              {"ldmatrix in " FILE_NAME,
                               ": the row must begin at a multiple of 16 bytes, not at address "
                               "0x8 of dynamic shared memory\n",
                               "by thread (3,0,0) in block (0,0,0)"}});
  expect_report(&(fault_case){fault_rows_in_global,
                              cudaErrorInvalidAddressSpace,
                              {"ldmatrix in " FILE_NAME,
                               ": the row is not in shared memory but at byte 16 of an allocation "
                               "of 256 bytes\n",
                               "by thread (3,0,0) in block (0,0,0)"}});
  expect_report(&(fault_case){
      fault_rows_past_end,
      cudaErrorIllegalAddress,
      {"ldmatrix in " FILE_NAME,
       "past the end of dynamic shared memory (512 bytes asked for at the launch): address 0x200 "
       "of dynamic shared memory",
       "by thread (3,0,0) in block (0,0,0)"}});
  expect_report(&(fault_case){
      fault_rows_across_end,
      cudaErrorIllegalAddress,
      {"ldmatrix in " FILE_NAME, "(520 bytes asked for at the launch): address 0x200 "}});
}

Test(register_faults, lanes) {
  expect_report(&(fault_case){fault_rows_missing_lane,
                              cudaErrorLaunchFailure,
                              {"========= ldmatrix needs all 32 lanes of the warp, but the lanes "
                               "0x00000080 do not exist or have exited\n",
                               "at rows_kernel in " FILE_NAME, "by warp 0 (threads 0-31)"}});
  expect_report(&(fault_case){
      fault_product_short_warp,
      cudaErrorLaunchFailure,
      {"========= mma.sync needs all 32 lanes of the warp, but the lanes 0xffff0000 do not"}});
  expect_report(
      &(fault_case){fault_product_types_differ, cudaErrorLaunchFailure, {"mma.sync", FILE_NAME}});
}

// ---- Asynchronous copies ------------------------------------------------------------------------

static void expect_copy_fault(void (*launch)(void), cudaError_t error, const char *title,
                              const char *detail) {
  const place_text place = place_of(launch, "_kernel in " FILE_NAME);
  expect_report(&(fault_case){launch, error, {title, place.text, detail}});
}

Test(copy_faults, arguments) {
  expect_copy_fault(
      fault_copy_size, cudaErrorLaunchFailure,
      "========= Invalid size of __pipeline_memcpy_async()\n",
      "by thread (1,0,0) in block (0,0,0): 12 bytes, but one copy moves 4, 8 or 16\n");
  expect_copy_fault(fault_copy_two_bytes, cudaErrorLaunchFailure,
                    "========= Invalid size of __pipeline_memcpy_async()\n",
                    ": 2 bytes, but one copy moves 4, 8 or 16\n");
  expect_copy_fault(fault_copy_zeros, cudaErrorLaunchFailure,
                    "========= Invalid zfill of __pipeline_memcpy_async()\n",
                    "9 bytes of zeros do not fit in a copy of 8\n");
}

Test(copy_faults, alignment) {
  expect_copy_fault(fault_copy_destination, cudaErrorMisalignedAddress,
                    "========= Invalid __shared__ write of size 16 bytes\n",
                    "    by thread (1,0,0) in block (0,0,0): address 0x82 of dynamic shared memory "
                    "is not a multiple of 16\n");
  expect_copy_fault(fault_copy_static_destination, cudaErrorMisalignedAddress,
                    "========= Invalid __shared__ write of size 16 bytes\n",
                    "block (0,0,0): address K_smem + 0x8 is not a multiple of 16\n");
  expect_copy_fault(fault_copy_source, cudaErrorMisalignedAddress,
                    "========= Invalid __global__ read of size 4 bytes\n",
                    "byte 130 of an allocation of 4096 bytes is not a multiple of 4\n");
}

Test(copy_faults, places) {
  expect_copy_fault(
      fault_copy_to_global, cudaErrorIllegalAddress,
      "Invalid destination of __pipeline_memcpy_async(): it must be in shared memory\n",
      "it is byte 0 of an allocation of 256 bytes (__global__)\n");
  expect_copy_fault(fault_copy_from_shared, cudaErrorIllegalAddress,
                    "Invalid source of __pipeline_memcpy_async(): it must be in global memory\n",
                    "it is address K_smem + 0x0 (__shared__)\n");
  expect_copy_fault(fault_copy_past_shared, cudaErrorIllegalAddress,
                    "Invalid __shared__ write of size 16 bytes\n",
                    "12 bytes past the end of dynamic shared memory (100 bytes asked for at the "
                    "launch)\n");
  const place_text place =
      place_of(fault_copy_past_end, "at __pipeline_memcpy_async() in " FILE_NAME);
  expect_report(&(fault_case){
      fault_copy_past_end,
      cudaErrorIllegalAddress,
      {"0 bytes past the end of an allocation of 4096 bytes\n", place.text, "by thread (1,0,0)"}});
  expect_report(
      &(fault_case){fault_shared_address_of_global,
                    cudaErrorInvalidAddressSpace,
                    {"__cvta_generic_to_shared(): the pointer is not to shared memory but "
                     "to byte 0 of an allocation of 256 bytes\n"}});
  expect_report(&(fault_case){fault_global_address_of_shared,
                              cudaErrorInvalidAddressSpace,
                              {"__cvta_shared_to_generic(): 0x100000 is no address of the block's "
                               "shared memory\n"}});
}

Test(async_copy, happens_at_the_wait) {
  float seen[SEEN];
  seen_of_async_copies(seen);
  const float expected[SEEN] = {NAN, NAN, 2, NAN, 3, NAN, 2, NAN, NAN, 4, 0, NAN};
  for (int i = 0; i < SEEN; i++) {
    const bool right = isnan(expected[i]) ? isnan(seen[i]) : seen[i] == expected[i];
    cr_assert(right, "seen[%d] is %g, not %g", i, (double)seen[i], (double)expected[i]);
  }
}

Test(counts, of_tensor_cores_and_copies) {
  emulator_counts_reset();
  launch_counted();
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  const emulator_counts counts = emulator_counts_read();
  cr_assert_eq(counts.tensor_core_operations, 3 * 2 * 5 * 2);
  cr_assert_eq(counts.async_copy_bytes, 3 * 64 * (30 * 16 + 4));
  cr_assert_eq(counts.async_copies_dropped, 3 * 64);
  cr_assert_eq(counts.products_in_the_first_half, 0); // no block waits for another one
}

// Two of three blocks, the first of which may run on any worker.
Test(counts, of_the_blocks_that_start_first) {
  setenv("EMU_MULTIPROCESSORS", "2", 1);
  emulator_counts_reset();
  launch_counted();
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert_eq(emulator_counts_read().products_in_the_first_half, 2 * 2 * 5 * 2);
}

// ---- GPUs before compute capability 8.0 ---------------------------------------------------------

static void expect_on(const char *gpu, void (*launch)(void), const char *words) {
  setenv("EMU_GPU", gpu, 1);
  if (words) {
    expect_report(&(fault_case){launch, cudaErrorNoKernelImageForDevice, {FILE_NAME, words}});
  } else {
    launch();
    cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess, "on %s", gpu);
  }
}

Test(older_gpus, t4) {
  expect_on("t4", load_fp16, NULL);
  expect_on("t4", load_bf16,
            ": the Emulated Tesla T4 has compute capability 7.5, and bf16 in a fragment came with "
            "8.0: set EMU_GPU to h200\n");
  expect_on("t4", product_fp16,
            ": the Emulated Tesla T4 has compute capability 7.5, and the product m16n8k16 came "
            "with 8.0: set EMU_GPU to h200\n");
}

Test(older_gpus, a100_is_none) {
  expect_on("a100", load_fp16, NULL);
  expect_on("a100", load_bf16, NULL);
  expect_on("a100", product_fp16, NULL);
}

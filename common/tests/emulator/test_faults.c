// Tests the emulator's reports and errors when a kernel has a fault.
#define _GNU_SOURCE
#include "fault_report.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(faults, deadlock) {
  // The lines are known once the kernel has run.
  free(stderr_of(fault_deadlock_barrier));
  cudaDeviceReset();
  char barrier[128], shuffle[128];
  snprintf(barrier, sizeof barrier, "threads 0-31, 48-63 (warps 0-1) wait at __syncthreads() in ");
  snprintf(shuffle, sizeof shuffle,
           "faults.cu:%d for the lanes 0xffffffff, of which 0xffff0000 have not come\n",
           line_shuffle);
  char barrier_line[32];
  snprintf(barrier_line, sizeof barrier_line, "faults.cu:%d\n", line_barrier);
  cr_assert_gt(line_barrier, line_shuffle);
  expect_report(
      &(fault_case){fault_deadlock_barrier,
                    cudaErrorLaunchFailure,
                    {"========= Barrier error detected. Deadlock: no thread of block (", barrier,
                     barrier_line, "threads 32-47 (warp 1) wait at __shfl_sync() in ", shuffle}});
  expect_report(&(fault_case){fault_deadlock_barrier,
                              cudaErrorLaunchFailure,
                              {"threads 64-127 (warps 2-3) have exited\n",
                               "in kernel deadlock_kernel\n", "cudaErrorLaunchFailure until"}});
  expect_report(&(fault_case){
      fault_deadlock_scattered,
      cudaErrorLaunchFailure,
      {"threads 0, 3, 6, 9, 12, 15, 18, 21 and 24 more (warps 0-2) wait at __syncwarp() in ",
       "threads 1-2, 4-5, 7-8, 10-11, 13-14, 16-17, 19-20, 22-23 and 48 more (warps 0-2) wait at "
       "__syncthreads() in ",
       "hint: __syncthreads() is for all threads of the block, and a warp function for all"}});
}

Test(faults, barrier_of_the_grid) {
  expect_report(&(fault_case){fault_grid_missed,
                              cudaErrorLaunchFailure,
                              {"grid.sync() in ", "faults.cu:",
                               ": deadlock: 2 blocks have ended and never come to this barrier\n",
                               "by thread (0,0,0)"}});
  expect_report(&(fault_case){fault_grid_not_cooperative,
                              cudaErrorLaunchFailure,
                              {"grid.sync() in ", ": the launch is not cooperative"}});
}

Test(faults, warps) {
  free(stderr_of(fault_outside_mask));
  cudaDeviceReset();
  char outside[160], ballot[64], shuffle[64];
  snprintf(outside, sizeof outside,
           "faults.cu:%d: the calling thread is lane 20, which its mask 0x0000ffff does not name",
           line_outside);
  expect_report(
      &(fault_case){fault_outside_mask,
                    cudaErrorLaunchFailure,
                    {"__ballot_sync() in ", outside, "by thread (20,0,0) in block (0,0,0)",
                     "in kernel outside_mask_kernel"}});
  free(stderr_of(fault_mixed_operations));
  cudaDeviceReset();
  snprintf(shuffle, sizeof shuffle, "faults.cu:%d\n", line_shuffle);
  snprintf(ballot, sizeof ballot, "faults.cu:%d\n", line_ballot);
  expect_report(&(fault_case){fault_mixed_operations,
                              cudaErrorLaunchFailure,
                              {"Divergent threads in a warp",
                               "the lanes 0x000000ff wait at "
                               "__shfl_xor_sync() in ",
                               shuffle, "lane 8 comes to __ballot_sync() in ", ballot,
                               "hint: all lanes of a mask must come to the same warp function"}});
  expect_report(&(fault_case){
      fault_mixed_votes,
      cudaErrorLaunchFailure,
      {"the lanes 0x000000ff wait at __any_sync() in ", "lane 8 comes to __all_sync() in "}});
  free(stderr_of(fault_mixed_calls));
  cudaDeviceReset();
  snprintf(shuffle, sizeof shuffle, "faults.cu:%d\n", line_call);
  expect_report(&(fault_case){fault_mixed_calls,
                              cudaErrorLaunchFailure,
                              {"lane 8 comes to __ballot_sync() in ", ", called from ", shuffle,
                               "in kernel mixed_calls_kernel<8u, __half, __nv_bfloat162>\n"}});
  expect_report(&(fault_case){
      fault_bad_width, cudaErrorLaunchFailure, {"width 12 is not a power of two from 1 to 32"}});
}

Test(faults, memory) {
  expect_report(&(fault_case){fault_read_past_end,
                              cudaErrorIllegalAddress,
                              {"========= Invalid ", " at address 0x",
                               "36 bytes past the end of an allocation of 4096 bytes\n"
                               "=========     at touch_kernel in ",
                               "by thread (5,0,0) in block (2,0,0)", "in kernel touch_kernel"}});
  char call[64];
  free(stderr_of(fault_copy_past_end));
  cudaDeviceReset();
  snprintf(call, sizeof call, "    called from common/tests/emulator/faults.cu:%d\n", line_copy);
  expect_report(&(fault_case){fault_copy_past_end,
                              cudaErrorIllegalAddress,
                              {"0 bytes past the end of an allocation of 4096 bytes\n"
                               "=========     at __pipeline_memcpy_async() in ",
                               "__pipeline_memcpy_async(to, from, sizeof *to); // past the end\n",
                               call, "by thread (0,0,0) in block (0,0,0)"}});
  expect_report(&(fault_case){fault_read_past_small,
                              cudaErrorIllegalAddress,
                              {"212 bytes past the end of an allocation of 300 bytes\n"}});
  expect_report(&(fault_case){fault_write_before_start,
                              cudaErrorIllegalAddress,
                              {"8 bytes before the start of an allocation of 4096 bytes\n"}});
  expect_report(
      &(fault_case){fault_read_null, cudaErrorIllegalAddress, {"address 0x10: a null pointer"}});
  expect_report(&(fault_case){fault_use_after_free,
                              cudaErrorIllegalAddress,
                              {"inside an allocation of 4096 bytes that has been freed"}});
  expect_report(&(fault_case){
      fault_stack_overflow,
      cudaErrorIllegalAddress,
      {"Stack overflow: a thread has 64 KiB of stack", "in kernel recursion_kernel"}});
  expect_report(&(fault_case){fault_atomic,
                              cudaErrorIllegalAddress,
                              {"0 bytes past the end of an allocation of 4096 bytes\n"
                               "=========     at atomic_kernel in common/tests/emulator/faults.cu:",
                               "add(nowhere, 1); // behind the end\n"}});
#if defined(__x86_64__) || defined(__aarch64__) // elsewhere the stack pointer is not known
  expect_report(&(fault_case){
      fault_read_past_local,
      cudaErrorIllegalAddress,
      {"========= Invalid __local__ ", ": far outside of the arrays and registers of a thread\n",
       "hint: make sanitize looks at each access", "in kernel past_local_kernel"}});
#endif
  expect_report(&(fault_case){
      fault_dynamic_shared_overrun,
      cudaErrorIllegalAddress,
      {"Invalid __shared__ write: block (0,0,0) has written behind the end of dynamic shared "
       "memory",
       "address 0xa0 of dynamic shared memory, of which the launch asked for 100 bytes",
       "hint: make sanitize says which line has done it", "in kernel overrun_kernel"}});
  expect_report(&(fault_case){
      fault_dynamic_shared_overrun_far,
      cudaErrorIllegalAddress,
      {"Invalid __shared__ ",
       ": 3960 bytes past the end of dynamic shared memory (100 bytes asked for at the launch)"}});
}

// `make` may build a program again while it runs, as `watch` does. The old one is read all the same. The copy prints
// only if it fails, for it says as well how many tests it finished.
Test(faults, a_program_that_was_replaced) {
  const fault_case stray = {fault_read_past_end,
                            cudaErrorIllegalAddress,
                            {"at touch_kernel in common/tests/emulator/faults.cu:",
                             "by thread (5,0,0)", "hint: make sanitize looks at each access"}};
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  cr_assert_gt(length, 0);
  self[length] = '\0';
  if (getenv("LAB_REPLACED")) {
    cr_assert_eq(unlink(self), 0);
    expect_report(&stray);
    return;
  }
  char folder[] = "/tmp/lab-replaced-XXXXXX", command[16384];
  cr_assert(mkdtemp(folder));
  snprintf(command, sizeof command,
           "libraries=$(dirname '%s'); cp '%s' %s/copy && env -u BXFI_MAP LAB_REPLACED=1 "
           "LD_LIBRARY_PATH=$libraries:$libraries/../.. %s/copy --filter "
           "'faults/a_program_that_was_replaced' >%s/out 2>&1; status=$?; [ $status = 0 ] || cat "
           "%s/out >&2; "
           "rm -rf %s; exit $status",
           self, self, folder, folder, folder, folder, folder);
  cr_assert_eq(system(command), 0);
}

#if defined(__x86_64__) || defined(__aarch64__) // elsewhere it is not known which of the two it was
Test(faults, reads_and_writes) {
  expect_report(&(fault_case){fault_read_past_end, cudaErrorIllegalAddress, {"Invalid read at"}});
  expect_report(
      &(fault_case){fault_write_before_start, cudaErrorIllegalAddress, {"Invalid write at"}});
}
#endif

#ifdef __aarch64__
Test(faults, aarch64) {
  expect_report(&(fault_case){fault_misaligned_atomic,
                              cudaErrorMisalignedAddress,
                              {"Misaligned access: its address must be a multiple of its size\n"
                               "=========     at misaligned_atomic_kernel in ",
                               "<- in two times 16 bytes"}});
}
#endif

#ifdef __x86_64__ // where these are not faults, the kernel goes on
Test(faults, x86) {
  char line[32];
  free(stderr_of(fault_write_without_line)); // the line is known once the kernel has run
  cudaDeviceReset();
  snprintf(line, sizeof line, "faults.cu:%d\n", line_lineless + 1);
  expect_report(&(fault_case){
      fault_write_without_line, cudaErrorIllegalAddress, {"at lineless_kernel in ", line}});
  expect_report(&(fault_case){
      fault_misaligned, cudaErrorMisalignedAddress, {"Misaligned access of 16 bytes"}});
  expect_report(&(fault_case){fault_read_wild,
                              cudaErrorIllegalAddress,
                              {"Invalid access: no memory can have this address"}});
  expect_report(
      &(fault_case){fault_divide_by_zero, cudaErrorLaunchFailure, {"Integer division by zero"}});
}
#endif

Test(faults, stops) {
  expect_report(&(fault_case){
      fault_trap,
      cudaErrorLaunchFailure,
      {"__trap() was called", "by thread (0,0,0) in block (0,0,0)", "in kernel trap_kernel"}});
  free(stderr_of(fault_assert));
  cudaDeviceReset();
  char where[128];
  snprintf(where, sizeof where,
           "faults.cu:%d: void assert_kernel(int): block: [0,0,0], thread: "
           "[3,0,0] ",
           line_assert);
  expect_report(
      &(fault_case){fault_assert, cudaErrorAssert, {where, "Assertion `x < limit` failed.\n"}});
  expect_report(&(fault_case){fault_launch_in_kernel,
                              cudaErrorInvalidConfiguration,
                              {"Launch of trap_kernel inside a kernel: no GPU can run"}});
}

Test(faults, one_report_a_launch) {
  setenv("EMU_WORKERS", "4", 1);
  char *report = stderr_of(fault_in_every_block);
  const char *first = strstr(report, "in kernel together_kernel");
  cr_assert_not_null(first, "%s", report);
  cr_assert_null(strstr(first + 1, "in kernel"), "%s", report);
  free(report);
}

// An abandoned launch leaves the emulator in order for the next one.
Test(faults, again_and_again) {
  setenv("EMU_WORKERS", "1", 1);
  for (int i = 0; i < 3; i++) {
    expect_report(&(fault_case){fault_large_deadlock,
                                cudaErrorLaunchFailure,
                                {"threads 0, 3, 6, 9", " and 334 more (warps 0-31) wait at"}});
  }
}

// A GPU returns an error and says no more; the emulator says what was wrong.
Test(faults, refused_launches) {
  const struct {
    void (*launch)(void);
    cudaError_t error;
    const char *says;
  } cases[] = {
      {refused_block, cudaErrorInvalidValue,
       "========= Launch of scattered_kernel: a block of 8 x 2 x 65 threads; it "
       "takes 1 to 1024, and at most 64 in z\n"},
      {refused_grid, cudaErrorInvalidValue,
       "========= Launch of scattered_kernel: a grid of 3 x 2 x 65536 blocks; y and z "
       "take 1 to 65535 here, and x to 2147483647\n"},
      {refused_room, cudaErrorCooperativeLaunchTooLarge,
       "========= Launch of grid_kernel: a cooperative launch of 265 blocks, which must all run at "
       "the same time; the GPU has room for 264, 2 in each multiprocessor: launch no more than "
       "cudaOccupancyMaxActiveBlocksPerMultiprocessor allows\n"},
      {refused_shared_memory, cudaErrorInvalidValue,
       "========= Launch of overrun_kernel: 50000 bytes of dynamic shared "
       "memory, and the kernel may have 49152 "
       "(cudaFuncAttributeMaxDynamicSharedMemorySize)\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = stderr_of(cases[i].launch);
    cr_expect_str_eq(text, cases[i].says);
    cr_expect_eq(cudaGetLastError(), cases[i].error);
    free(text);
  }
  setenv("EMU_GRID_LIMIT", "100", 1);
  char *text = stderr_of(refused_grid);
  cr_expect_str_eq(text, "========= Launch of scattered_kernel: a grid of 3 x 2 x 65536 blocks; y "
                         "and z take 1 to 100 here, and x to 2147483647 (on a GPU y and z take "
                         "65535; tests make the limit small)\n");
  free(text);
}

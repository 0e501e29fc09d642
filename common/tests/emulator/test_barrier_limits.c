// Tests what the emulator says of mbarriers and named barriers beyond their limits, and that it takes what is just within.
#define _GNU_SOURCE
#include "barrier_limits.h"
#include "emulator.h"
#include "fault_report.h"

#define FILE_NAME "common/tests/emulator/barrier_limits.cu:"

static void expect(void (*launch)(void), cudaError_t error, const char *operation,
                   const char *says) {
  expect_in_line(&(line_case){launch, error, FILE_NAME, &fault_line, {operation, says}});
}

#define FAILURE cudaErrorLaunchFailure

Test(barrier_limits, words) {
  expect(fault_barrier_of_zeros, FAILURE, "mbarrier.try_wait.parity",
         ": there is no barrier at address full + 0x0: no thread has made one there, or something "
         "has been written over it\n");
  expect(fault_barrier_overwritten, FAILURE, "mbarrier.try_wait.parity",
         ": there is no barrier at address full + 0x0");
  expect(fault_barrier_misaligned, cudaErrorMisalignedAddress, "mbarrier.init",
         ": a barrier must be at a multiple of 8 bytes, not at address words + 0x4\n");
}

Test(barrier_limits, copies) {
  expect(fault_copy_without_barrier, FAILURE, "cp.async.bulk.tensor.4d",
         ": there is no barrier at address full + 0x0");
}

Test(barrier_limits, counts) {
  expect(fault_barrier_too_many, FAILURE, "mbarrier.init",
         ": a barrier is for 1 to 1048575 arrivals, not 1048576\n");
  expect(fault_barrier_bytes, FAILURE, "mbarrier.arrive.expect_tx",
         ": a barrier counts up to 1048575 bytes, not 1048576\n");
  expect(fault_copies_bytes, FAILURE, "cp.async.bulk.tensor.4d",
         ": a barrier counts up to 1048575 bytes, not 1048576\n");
  right_barrier_limits();
  cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess);
}

Test(barrier_limits, named) {
  expect(fault_named_barrier_sixteen, FAILURE, "bar.sync",
         ": barriers have the numbers 1 to 15, not 16; 0 is __syncthreads()\n");
  expect(fault_named_barrier_no_threads, FAILURE, "bar.sync",
         ": barrier 1 is for whole warps, not for 0 threads\n");
  expect(fault_named_barrier_part_of_warp, FAILURE, "bar.sync",
         ": barrier 1 is for whole warps, not for 48 threads\n");
}

Test(barrier_limits, lines) {
  expect_report(&(fault_case){
      fault_named_barrier_files,
      FAILURE,
      {"bar.sync in second.cu:7: all lanes of a warp must come to a barrier by the same "
       "instruction: others of warp 0 have come to barrier 3 by bar.sync in first.cu:7"}});
  expect(fault_named_barrier_second_phase, FAILURE, "bar.sync",
         ": all lanes of a warp must come to a barrier by the same instruction");
}

// A warp that comes twice in a phase, in two lines, is right: it arrives, and then waits. Each phase counts once.
Test(barrier_limits, warps_that_come_twice) {
  emulator_counts_reset();
  right_named_barrier_twice();
  cr_expect_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_expect_eq(emulator_counts_read().named_barriers, 3);
}

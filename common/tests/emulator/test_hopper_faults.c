// Tests the emulator's reports about kernels that break the rules of
// Hopper's barriers and copies, and the values that kernels without the wait see.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "hopper_faults.h"

#include <math.h>

#define FILE_NAME "common/tests/emulator/hopper_faults.cu:"

static void expect(void (*launch)(void), cudaError_t error, const char *operation,
                   const char *first, const char *second) {
  expect_in_line(&(line_case){launch, error, FILE_NAME, &fault_line, {operation, first, second}});
}

#define FAILURE    cudaErrorLaunchFailure
#define MISALIGNED cudaErrorMisalignedAddress
#define ILLEGAL    cudaErrorIllegalAddress

Test(hopper_faults, barriers) {
  expect(fault_barrier_missing, FAILURE, "mbarrier.try_wait.parity",
         ": there is no barrier at address full + 0x0: no thread has made one there", "by thread");
  expect(fault_barrier_in_global, cudaErrorInvalidAddressSpace, "mbarrier.arrive",
         ": the barrier is not in shared memory but at byte 0 of an allocation of 8 bytes", NULL);
  expect(fault_barrier_no_arrival, FAILURE, "mbarrier.init",
         ": a barrier is for 1 to 1048575 arrivals, not 0\n", NULL);
  expect(fault_barrier_arrivals, FAILURE, "mbarrier.arrive",
         ": the one arrival of this phase has come to the barrier full, at address full + 0x0, "
         "which waits for 64 bytes: this is one too many\n",
         "hint: the thread has arrived in this phase before, and has waited for no barrier");
  expect(fault_barrier_never_ends, FAILURE, "threads 0-1 (warp 0) wait at mbarrier.try_wait.parity",
         " for the barrier full, at address full + 0x0: 1 of 2 arrivals are still to come\n",
         "hint: the threads that have to arrive at full wait themselves, or have exited: ");
  cudaDeviceReset();
  char *report = stderr_of(fault_barrier_never_ends);
  cr_expect(strstr(report, "hint: some of its arrivals have come, and others have not: is it made"),
            "%s", report);
  cr_expect_null(strstr(report, "no thread has arrived there yet"), "its wait is right: %s",
                 report);
  free(report);
  cudaDeviceReset();
  expect_report(&(fault_case){fault_ring_not_emptied,
                              FAILURE,
                              {"for the barrier empty[0], at address empty + 0x0: 1 of 1 arrivals",
                               "hint: a wait for it has returned at once before, and no thread has "
                               "arrived there since: do the threads that use the stage arrive"}});
}

// The order of what the warps did names the arrival that let them go on, also to the warp that arrived last.
Test(hopper_faults, divided_warp) {
  expect_report(&(fault_case){fault_barrier_divided,
                              FAILURE,
                              {"threads 1-31 (warp 0) wait at __syncwarp()",
                               "threads 32-63 (warp 1) wait at mbarrier.try_wait.parity",
                               " 9 waits in __syncthreads()", ", after event 9\n",
                               ", after event 9\n", "hint: __syncthreads() is for all threads"}});
}

// Why an arrival is one too many, where that is known.
Test(hopper_faults, arrivals) {
  expect(fault_barrier_two_threads, FAILURE, "mbarrier.arrive.expect_tx",
         ": this is one too many\n",
         "hint: thread (0,0,0) has arrived in this phase: is this line for one thread alone, or");
  expect(fault_barrier_waited_wrong, FAILURE, "mbarrier.arrive", ": this is one too many\n",
         "hint: the thread has arrived in this phase before, and its wait for full since returned "
         "at once: it has the parity of the phase before\n");
  expect_report(&(fault_case){fault_barrier_late_arrival,
                              FAILURE,
                              {"the barrier full[0], at address full + 0x0, and 1008 bytes too "
                               "many: this is one too many\n",
                               "by thread (0,0,0)",
                               "hint: are as many bytes announced as the copies bring?\n"}});
}

// The line is that of fill_stage(), and the report says who has called it.
static void expect_of_ring(void (*launch)(void), const char *hint) {
  setenv("EMU_WORKERS", "1", 1);
  free(stderr_of(launch));
  cudaDeviceReset();
  char caller[128];
  snprintf(caller, sizeof caller, "    called from common/tests/emulator/ring_faults.h:%d\n",
           fault_line);
  expect_report(&(fault_case){
      launch,
      FAILURE,
      {"mbarrier.arrive.expect_tx in common/kernel/hopper.cuh:",
       ": the one arrival of this phase has come to the barrier full[0], at address full + 0x0, "
       "which waits for 1024 bytes: this is one too many\n",
       caller, "by thread (0,0,0)", hint}});
}

Test(hopper_faults, stages_filled_too_early) {
  expect_of_ring(
      fault_ring_lanes,
      "hint: 32 phases have ended at empty[0], for which the thread has waited, and 1 at "
      "full[0]: do more arrivals come to empty[0] in a lap than it is made for (1)?\n");
  expect_of_ring(fault_ring_not_awaited, "hint: no thread has waited for full[0]: one must");
  expect_of_ring(fault_ring_parity_of_full,
                 "hint: a wait for full[0] has returned at once, though the bytes of this phase "
                 "have not come: has it the parity of the phase before, or do more arrivals come "
                 "to empty[0] in a lap than it is made for (1)?\n");
  expect_of_ring(fault_ring_same_parity,
                 "hint: 3 phases have ended at empty[0], for which the thread has waited, and 0 at "
                 "full[0]: do more arrivals come to empty[0] in a lap than it is made for (1), or "
                 "has a wait for full[0] the parity of the phase before?\n");
  expect_of_ring(
      fault_ring_two_lanes,
      "hint: the thread has waited for empty[0] last: is that the barrier which says that this "
      "stage is empty? Then it was complete too early: does a thread arrive there without having "
      "waited for full[0], do more arrivals come in a lap than it is made for (1), or has a wait "
      "the parity of the phase before?\n");
  expect_of_ring(fault_ring_parity_of_empty,
                 "hint: the thread has filled this stage before, and its wait for empty[0] since "
                 "returned at once, though no phase has ended there: has it the parity");
}

// A report calls a barrier as the kernel does, with the index that the barrier has in its array.
Test(hopper_faults, barriers_have_their_names) {
  expect_report(&(fault_case){
      fault_barrier_of_a_ring,
      FAILURE,
      {"thread 0 (warp 0) waits at mbarrier.try_wait.parity",
       " for the barrier K_full[1], at address 0x8 of dynamic shared memory: 1 of 1 arrivals",
       " for the barrier empty[2], at address empty + 0x10: ",
       " for the barrier full, at address 0x18 of dynamic shared memory: ",
       "hint: no thread has arrived there yet: if this is a wait for a full stage, which thread"}});
}

Test(hopper_faults, named_barriers) {
  free(stderr_of(fault_named_barrier_zero));
  cudaDeviceReset();
  expect_report(&(fault_case){
      fault_named_barrier_zero, FAILURE, {"bar.arrive in " FILE_NAME, "numbers 1 to 15, not 0"}});
  expect(fault_named_barrier_counts, FAILURE, "bar.sync",
         ": barrier 2 is for 96 threads here, and for 64 where others wait\n", NULL);
  expect(
      fault_named_barrier_mixed, FAILURE, "bar.red.or",
      ": others came to barrier 4 without bar.red, which belongs to all threads of a phase or to "
      "none\n",
      NULL);
  expect(fault_named_barrier_lines, FAILURE, "bar.sync",
         ": all lanes of a warp must come to a barrier by the same instruction: others of warp 0 "
         "have come to barrier 5 by bar.sync in " FILE_NAME,
         "by thread (16,0,0)");
  expect(fault_named_barrier_halves, FAILURE, "bar.sync",
         ": barrier 5 has its 32 threads, and the lanes 0xffff0000 of warp 1 are not among them",
         NULL);
  expect(fault_named_barrier_alone, FAILURE, "threads 0-31 (warp 0) wait at bar.sync",
         " for barrier 3, to which 64 of 96 threads have come\n",
         "threads 32-63 (warp 1) have exited\n");
}

// The API requires a multiple of 64 bytes. The driver does not check it, so no GPU test has this case.
Test(hopper_faults, tensor_map_address) {
  cr_assert_eq(described_at(0), cudaSuccess);
  cr_assert_eq(described_at(32), cudaErrorInvalidValue);
}

Test(hopper_faults, copies) {
  expect_report(&(fault_case){
      fault_copy_bytes_missing,
      FAILURE,
      {"Deadlock", "thread 0 (warp 0) waits at mbarrier.try_wait.parity in " FILE_NAME,
       " for the barrier full, at address full + 0x0: 0 of 1 arrivals and 16 "
       "bytes are still to come\n",
       "the last events of warp 0, by their numbers in the block:\n",
       " waits in mbarrier.try_wait.parity of full in " FILE_NAME,
       "hint: the bytes announced last for full are the 1040 of " FILE_NAME}});
  expect_report(&(fault_case){fault_copy_bytes_more,
                              FAILURE,
                              {"Deadlock",
                               "for the barrier full, at address full + 0x0: all "
                               "arrivals and 16 bytes too many have come\n",
                               "are the 1008 of " FILE_NAME,
                               ": do the copies bring as many, and do they name this barrier?\n"}});
  expect(fault_copy_second, FAILURE, "cp.async.bulk.tensor.4d",
         "the phase of the barrier full is over, and the 1024 bytes of this copy were under way "
         "before: announce the bytes of all copies",
         NULL);
  expect_report(&(fault_case){fault_copy_not_announced,
                              FAILURE,
                              {"Deadlock", "for the barrier full, at address full + 0x0: 1 of 1 "
                                           "arrivals are still to come, and 1024 bytes have come "
                                           "that no thread announced\n"}});
  expect(fault_copy_alignment, MISALIGNED, "cp.async.bulk.tensor.4d",
         ": the box must begin at a multiple of 128 bytes of shared memory, not at address 0x",
         " of dynamic shared memory\n");
  expect(fault_copy_past_shared, ILLEGAL, "cp.async.bulk.tensor.4d",
         ": shared memory does not hold the box of 1024 bytes that begins at address 0x", NULL);
  expect(fault_copy_column, cudaErrorIllegalInstruction, "cp.async.bulk.tensor.4d",
         ": the box begins at column 60, byte 120 of a row: it must be a multiple of 16 bytes\n",
         NULL);
  expect(fault_copy_no_map, cudaErrorIllegalInstruction, "cp.async.bulk.tensor.4d",
         ": what it is given is no tensor map of cuTensorMapEncodeTiled\n", NULL);
  expect(fault_copy_rank, cudaErrorIllegalInstruction, "cp.async.bulk.tensor.4d",
         ": the tensor has 2 dimensions, the instruction is for 4\n", NULL);
  expect(fault_copy_freed, ILLEGAL, "cp.async.bulk.tensor.4d",
         ": the tensor of the map is not in device memory: the box's last byte is ",
         "inside an allocation of 4096 bytes that has been freed\n");
  expect(fault_copy_begins_before, ILLEGAL, "cp.async.bulk.tensor.4d",
         ": the tensor of the map is not in device memory", NULL);
  expect(fault_copy_ends_behind, ILLEGAL, "cp.async.bulk.tensor.4d",
         ": the tensor of the map is not in device memory", NULL);
}

Test(hopper_faults, copies_come_late) {
  float seen[SEEN_OF_COPIES];
  seen_of_box_copies(seen);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  cr_assert(isnan(seen[0]), "before the wait: %g", (double)seen[0]);
  cr_assert(isnan(seen[1]), "after a wait of the wrong parity: %g", (double)seen[1]);
  cr_assert(fabsf(seen[2] - 1.0586f) < 1e-3f, "after the wait: %g", (double)seen[2]);
  cr_assert(isnan(seen[3]), "of the box that was not announced: %g", (double)seen[3]);
}

// The launch has a box of 8 rows of 128 bytes, and one that never arrives.
Test(hopper_faults, counts) {
  float seen[SEEN_OF_COPIES];
  emulator_counts_reset();
  seen_of_box_copies(seen);
  const emulator_counts counts = emulator_counts_read();
  cr_assert_eq(counts.async_copy_bytes, 1024);
  cr_assert_eq(counts.async_copies_dropped, 1);
}

// An A100 has none of these: the emulator refuses the tensor map and each instruction.
Test(hopper_faults, other_gpus) {
  setenv("EMU_GPU", "a100", 1);
  char *report = stderr_of(fault_copy_alignment);
  cr_assert_not_null(strstr(report,
                            "cuTensorMapEncodeTiled: the Emulated NVIDIA A100-SXM4-80GB has "
                            "compute capability 8.0, and the copy engine came with 9.0: set "
                            "EMU_GPU to h200\n"),
                     "%s", report);
  free(report);
  cudaDeviceReset();
  expect(fault_barrier_no_arrival, cudaErrorNoKernelImageForDevice, "mbarrier.init",
         ": the Emulated NVIDIA A100-SXM4-80GB has compute capability 8.0", NULL);
}

// Kernels of several devices and transfers that are under way.
#define _GNU_SOURCE
#include "fault_cases.h"

static void two_gpus(void) { setenv("EMU_GPUS", "2", 1); }

// A transfer shows while it is under way. That is so in the plain order, in which it is as late as it can be, and not in
// each shuffled one; but no order gives a report of what is right.
static void run_late_cases(const fault_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    expect_report(&cases[i], 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      char *report = report_of(&cases[i], false, seed);
      cr_assert_str_empty(report, "%s without its fault, seed %d:\n%s", cases[i].name, (int)seed,
                          report);
      free(report);
    }
  }
}

#define RACE(with) "Race reported between a transfer under way and " with " of __global__ memory"

Test(transfers, unordered, .init = two_gpus) {
  static const fault_case cases[] = {
      CASE(copy_not_waited_for, RACE("read"), "transfer queued at copy_not_waited_for in ",
           "<- peer copy", "read of 4 bytes at use_kernel in ", "<- use",
           "by thread (0,0,0) in block (0,0,0): byte 0 of an allocation of 256 bytes of device 0, "
           "which cudaMemcpyPeerAsync still writes",
           "63 more like this"),
      CASE(copy_to_fresh_memory, RACE("read"), "<- fresh copy", "<- use", "more like this"),
      CASE(fill_not_waited_for, RACE("read"), "<- fill", "<- use", "which cudaMemset still writes"),
      CASE(copy_within_device, RACE("write"), "<- copy within", "<- use",
           "which cudaMemcpy still reads"),
      CASE(source_overwritten, RACE("write"), "transfer queued at source_overwritten in ",
           "<- peer copy", "write of 4 bytes at use_kernel in ", "<- use",
           "of device 0, which cudaMemcpyPeerAsync still reads"),
      CASE(gather_not_waited_for, RACE("read"), "<- gather", "<- use",
           "an allocation of 512 bytes of device 0, which ncclAllGather still writes",
           "hint: the kernel's stream does not wait for the transfer"),
      CASE(flag_too_early, RACE("read"), "<- slice", "<- polled",
           "of device 0, which cudaMemcpyPeerAsync still writes"),
      CASE(send_buffer_overwritten, RACE("write"), "<- send", "<- use",
           "of device 0, which ncclSend still reads"),
  };
  run_late_cases(cases, sizeof cases / sizeof cases[0]);
}

Test(transfers, out_of_reach, .init = two_gpus) {
  static const fault_case cases[] = {
      CASE(other_device, "Invalid read at address 0x",
           " of an allocation of 256 bytes of device 1, without peer access from device 0, where "
           "the kernel runs",
           "at use_kernel in ", "<- use", "by thread (",
           "hint: call cudaDeviceEnablePeerAccess(1, 0) while device 0 is current",
           "in kernel use_kernel"),
  };
  run_late_cases(cases, sizeof cases / sizeof cases[0]);
}

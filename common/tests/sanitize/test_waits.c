// Asynchronous copies that are used too early or forgotten, and divergent barriers.
#define _GNU_SOURCE
#include "fault_cases.h"

#define UNDER_WAY(access)                                                                          \
  "Race reported between an asynchronous copy under way and " access " of __shared__ memory"

Test(waits, copies) {
  static const fault_case cases[] = {
      CASE(copy_read_early, UNDER_WAY("read"), "<- early copy", "<- early read",
           "address tile + 0x", "hint: __pipeline_wait_prior()"),
      CASE(copy_read_by_others, "Race reported between ", " of __shared__ memory", "<- others ",
           "<- others ", "__syncthreads()"),
      CASE(copy_waited_behind_barrier, "Race reported between ", " of __shared__ memory",
           "<- behind copy", "<- behind read", "__syncthreads()"),
      CASE(copy_overwrites_stage, "Race reported between ", " of __shared__ memory", "<- stage ",
           "<- stage "),
      CASE(copy_written_over, UNDER_WAY("write"), "<- over copy", "<- over write",
           "hint: wait for the copy before"),
      CASE(copy_twice, UNDER_WAY("write by an asynchronous copy"), "<- twice first",
           "<- twice second"),
      CASE(copy_not_waited, "Asynchronous copy of 4 bytes never waited for", "<- forgotten",
           "by thread (0,0,0) in block (0,0,0): address tile + 0x0", "63 more like this",
           "hint: __pipeline_wait_prior(0) before the thread ends is missing"),
      CASE(copy_not_committed, "Asynchronous copy of 4 bytes never waited for", "<- uncommitted",
           "hint: the copy is in no group: __pipeline_commit() is missing behind it"),
      CASE(copy_past_the_end, "Invalid __global__ read by an asynchronous copy of size 4 bytes",
           "<- tail", "by thread (", " bytes past the end of an allocation of 132 bytes"),
      CASE(rows_read_early, UNDER_WAY("read"), "<- rows copy", "read of 16 bytes at ",
           "<- rows read", "address tile + 0x"),
      CASE(rows_of_other_lane, "Race reported between write and read of __shared__ memory",
           "<- other row write", "read of 16 bytes at ", "<- other row read",
           "hint: lanes of a warp do not run in lockstep"),
      CASE(copy_misaligned, "Invalid __shared__ write of size 16 bytes", "waits.cu:", "// <- grid",
           "address tile + 0x", " is not a multiple of 16"),
  };
  RUN_CASES(cases);
}

Test(waits, barriers) {
  static const fault_case cases[] = {
      CASE(barrier_after_exit, "Barrier error detected. Divergent thread(s) in block", "<- leave",
           "by thread (0,0,0) in block (0,0,0): it passes the barrier, to which thread (50,0,0) "
           "never "
           "came: it has exited"),
      CASE(barrier_elsewhere, "Barrier error detected. Divergent thread(s) in block",
           "<- branches first", "by thread (0,0,0)", "<- branches second", "by thread (32,0,0)"),
      CASE(barrier_in_condition, "Barrier error detected. Deadlock", "__syncthreads() in "),
  };
  RUN_CASES(cases);
}

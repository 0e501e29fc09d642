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
      CASE(copy_read_in_no_group, UNDER_WAY("read"), "<- copy in no group",
           "<- read behind a wait for nothing",
           "hint: the copy is in no group yet, and a wait is for groups: __pipeline_commit() must"),
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
      {"barrier_after_exit",
       barrier_after_exit,
       {"Barrier error detected. Divergent thread(s) in block", "<- leave\n",
        "by threads 0-49 (warps 0-1) in block (0,0,0)\n",
        "=========     threads 50-63 (warp 1) have ended and do not come\n"
        "=========     in kernel ",
        "hint: a barrier of the block is for all its threads", "Race reported between ",
        "hint: a thread has ended before a barrier of the block"},
       1},
      CASE(barrier_elsewhere, "Barrier error detected. Divergent thread(s) in block",
           "<- branches first", "by threads 0-31 (warp 0) in block (0,0,0)\n", "<- branches second",
           "by threads 32-63 (warp 1) in block (0,0,0)\n=========     in kernel "),
      // Whose threads are out of step from the first barrier on, so the later ones are not reported.
      {"barrier_of_some",
       barrier_of_some,
       {"Barrier error detected. Divergent thread(s) in block", "<- some\n", "by threads 0-31 ",
        "<- some later\n", "by threads 32-63 ",
        "threads 64-95 (warp 2) wait at a barrier in another line\n", "Race reported between ",
        "hint: threads of this launch have missed a barrier, as is reported above"},
       1},
      CASE(barrier_of_fewer, "Race reported between ", "<- halves\n",
           "hint: warps run in any order: put __syncthreads() between the two"),
      CASE(barrier_of_flag, "Race reported between ", "<- flag ", "<- flag ",
           "hint: warps run in any order: put __syncthreads() between the two"),
      {"barrier_in_rounds",
       barrier_in_rounds,
       {"Barrier error detected. Divergent thread(s) in block", "<- rounds\n",
        "by threads 32-95 (warps 1-2) in block (0,0,0)\n",
        "threads 0-31 (warp 0) have ended and do not come\n", "1 more like this",
        "Race reported between ", "hint: a thread has ended before a barrier of the block"},
       1},
      {"barrier_elsewhere_again",
       barrier_elsewhere_again,
       {"Barrier error detected. Divergent thread(s) in block", "<- branches first",
        "Barrier error detected. Divergent thread(s) in block", "<- rounds\n"},
       2},
      CASE(barrier_in_condition, "Barrier error detected. Deadlock", "__syncthreads() in ",
           "for the lanes 0xffffffff, of which 0x0000ffff have not come\n",
           "hint: __syncthreads() is for all threads of the block, and a warp function for all"),
  };
  RUN_CASES(cases);
}

// Blocks of a cluster that use each other's shared memory.
#define _GNU_SOURCE
#include "fault_cases.h"

#define SHARED_RACE "Race reported between "
#define WITH_SYNC   "hint: the blocks of a cluster run at the same time: put cluster.sync()"

Test(clusters, races) {
  static const fault_case cases[] = {
      CASE(cluster_read_before_barrier, SHARED_RACE, " of __shared__ memory",
           "of 4 bytes at neighbour_kernel in ", "<- neighbour ",
           "of 4 bytes at neighbour_kernel in ", "<- neighbour ", "address tile + 0x", WITH_SYNC),
      CASE(cluster_write_before_barrier, SHARED_RACE, " of __shared__ memory", "<- inbox ",
           "<- inbox ", "of dynamic shared memory", WITH_SYNC),
      CASE(cluster_write_behind_arrival, SHARED_RACE, " of __shared__ memory", "<- late ",
           "<- late ", "address tile + 0x", WITH_SYNC),
      CASE(cluster_sum_before_barrier, SHARED_RACE, "atomic operation", " of __shared__ memory",
           "<- sum ", "<- sum ", WITH_SYNC),
      CASE(cluster_add_before_barrier, SHARED_RACE, " of __shared__ memory", "<- bins ", "<- bins ",
           "where other blocks of the cluster use the place as well, cluster.sync()"),
      CASE(cluster_threads_left, SHARED_RACE, " of __shared__ memory", "<- left write",
           "<- left read",
           "hint: a thread has ended, and the barrier of the cluster orders nothing"),
      CASE(cluster_some_wait, SHARED_RACE, " of __shared__ memory", "<- told ", "<- told ",
           WITH_SYNC),
      CASE(cluster_relaxed_arrival, SHARED_RACE, " of __shared__ memory", "<- relaxed ",
           "<- relaxed ", "address inbox + 0x",
           "hint: a relaxed arrival at the barrier of the cluster tells the others nothing"),
      CASE(cluster_global_before_barrier, SHARED_RACE, " of __global__ memory", "<- pass on ",
           "<- pass on ", "hint: blocks run in any order"),
  };
  RUN_CASES(cases);
}

Test(clusters, begin_and_end) {
  static const fault_case cases[] = {
      CASE(cluster_not_begun,
           "Race reported between the beginning of a block and write of its __shared__ memory",
           "<- early write", "address inbox + 0x", " of block (",
           "hint: the blocks of a cluster need not begin at the same time: put cluster.sync()"),
      CASE(cluster_ended,
           "Race reported between the end of a block and read of its __shared__ memory",
           "<- last read", "of dynamic shared memory",
           "hint: a block must not end while others use its shared memory: put cluster.sync()"),
      CASE(cluster_ended_of_second,
           "Race reported between the end of a block and read of its __shared__ memory",
           "<- first reads", "in block (0,0,0): address tile + 0x", " of block (1,0,0)",
           "hint: a block must not end while others use its shared memory"),
      CASE(cluster_add_after_end,
           "Invalid __shared__ atomic operation: block (0,0,0), whose shared memory it is, has "
           "ended",
           "at late_add_kernel in ", "<- late add", "in block (1,0,0)",
           "hint: a block must not end while others use its shared memory"),
  };
  RUN_CASES(cases);
}

Test(clusters, memory) {
  static const fault_case cases[] = {
      CASE(cluster_unwritten, "Uninitialized __shared__ memory read of size 4 bytes",
           "<- unwritten remote",
           "by thread (5,0,0) in block (0,0,0): address tile + 0x14 of block (1,0,0)"),
      CASE(
          cluster_past_dynamic, "Invalid __shared__ read of size 4 bytes", "<- past dynamic",
          "by thread (63,0,0) in block (0,0,0): 4 bytes past the end of dynamic shared memory (256 "
          "bytes asked for at the launch), in block (1,0,0)"),
      CASE(cluster_straddles_dynamic, "Invalid __shared__ read of size 4 bytes",
           "by thread (63,0,0) in block (0,0,0): 2 bytes past the end of dynamic shared memory "
           "(258 bytes asked for at the launch), in block (1,0,0)"),
      CASE(cluster_past_static, "Invalid __shared__ read of size 4 bytes", "<- past static",
           "by thread (63,0,0) in block (0,0,0): ", ", in block (1,0,0)"),
  };
  RUN_CASES(cases);
}

// The launch fails with the error that an H100 gives.
Test(clusters, error) {
  cr_assert_not_null(freopen("/dev/null", "w", stderr)); // the report
  cluster_ended(true);
  cr_expect_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

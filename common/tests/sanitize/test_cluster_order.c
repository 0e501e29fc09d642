// The barrier of a cluster orders some accesses, and others it does not.
#define _GNU_SOURCE
#include "fault_cases.h"

#define RACE      "Race reported between ", " of __shared__ memory"
#define WITH_SYNC "hint: the blocks of a cluster run at the same time: put cluster.sync()"
#define ENDED     "Race reported between the end of a block and "
#define UNFENCED                                                                                   \
  "Box copy overwrites __shared__ memory that a thread has read without a fence.proxy.async"
#define HIDDEN                                                                                     \
  "Box copy overwrites __shared__ memory that a thread has written without a fence.proxy.async",   \
      "<- remote write", "<- fetch"

Test(cluster_order, races) {
  static const fault_case cases[] = {
      CASE(cluster_gone_before_barrier, RACE, "<- gone write", "<- gone read",
           "hint: a thread has ended, and the barrier of the cluster orders nothing"),
      CASE(cluster_met_before_end, RACE, "<- met read", "<- met write",
           "hint: a thread has ended, and the barrier of the cluster orders nothing"),
      CASE(cluster_ended_before_second, ENDED, "<- second reads", "in block (1,0,0)"),
      CASE(cluster_ended_behind_flag, ENDED, "<- before the flag", "in block (1,0,0)"),
      CASE(cluster_reads_of_first, "Race reported between write and read of __global__ memory",
           "<- next write", "<- next read", "hint: blocks run in any order"),
  };
  RUN_CASES(cases);
}

Test(cluster_order, phases) {
  static const fault_case cases[] = {
      CASE(cluster_read_before_wait, RACE, "<- phases ", "<- phases ", WITH_SYNC),
      CASE(cluster_flag_not_read, RACE, "<- flag ", "<- flag ", WITH_SYNC),
      CASE(cluster_relaxed_before, RACE, "<- relaxed before ", "<- relaxed before ", WITH_SYNC),
      CASE(cluster_relaxed_beside, RACE, "<- mixed ", "<- mixed ", "hint: a relaxed arrival"),
  };
  RUN_CASES(cases);
}

Test(cluster_order, copies) {
  static const fault_case cases[] = {
      CASE(cluster_refill_by_writers, HIDDEN),
      CASE(cluster_refill_by_copier, HIDDEN),
      CASE(cluster_refill_by_copier_early, HIDDEN),
      CASE(cluster_refill_by_ended, HIDDEN),
      CASE(cluster_refill_by_first, UNFENCED, "<- remote read", "<- fetch"),
      CASE(cluster_refill_by_second, UNFENCED, "<- remote read", "<- fetch"),
      CASE(cluster_refill_by_flag, UNFENCED, "<- told read", "<- fetch"),
  };
  RUN_CASES(cases);
}

// Kernels that may begin before the one before them has ended.
#define _GNU_SOURCE
#include "fault_cases.h"

#define GLOBAL_RACE "Race reported between "
#define WITH_WAIT   "hint: the kernel is launched early"

Test(early, races) {
  static const fault_case cases[] = {
      CASE(early_without_wait, GLOBAL_RACE, " of __global__ memory", "<- fill",
           "by a thread of the kernel before", "add_kernel", "<- add", WITH_WAIT),
      CASE(early_behind_transfer, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_behind_host, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_behind_query, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_behind_event, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_in_other_stream, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_behind_graph, GLOBAL_RACE, "<- fill", "<- add", WITH_WAIT),
      CASE(early_cluster_waits, GLOBAL_RACE, "<- fill", "<- first block", WITH_WAIT),
      CASE(early_one_waits, GLOBAL_RACE, "<- fill", "<- one waits", WITH_WAIT),
      CASE(early_overwrites, GLOBAL_RACE, "copy_kernel", "<- copy", "<- overwrite", WITH_WAIT),
      CASE(early_last_block, GLOBAL_RACE, "<- fill", "<- last block", "in block (2,0,0)",
           WITH_WAIT),
  };
  RUN_CASES(cases);
}

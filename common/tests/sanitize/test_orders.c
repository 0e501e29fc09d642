// Waits and atomic operations that come too early for what they are to put in order.
#define _GNU_SOURCE
#include "fault_cases.h"

#define RACE "Race reported between ", " of __shared__ memory"

Test(orders, races) {
  static const fault_case cases[] = {
      CASE(phase_arrived_for_next, RACE, "<- next phase ", "<- next phase "),
      CASE(phase_left_out_by_arriver, "Barrier error detected. A thread may miss the phase",
           "wait at ", "<- arriver wait", "by thread (32,0,0)"),
      CASE(flag_raised_early, RACE, "<- raised ", "<- raised ", "hint: warps run in any order"),
  };
  RUN_CASES(cases);
}

Test(orders, barriers_of_some) {
  static const fault_case cases[] = {
      CASE(barrier_in_other_file, "Barrier error detected. Divergent thread(s) in block",
           ".cuh:7\n", ".cuh:7\n"),
      {"barrier_missed_on_and_on",
       barrier_missed_on_and_on,
       {"Barrier error detected. Divergent thread(s) in block", "<- missed by those",
        "Race reported between ", "<- read of theirs"},
       1},
  };
  RUN_CASES(cases);
}

Test(orders, two_faults) {
  static const fault_case cases[] = {
      {"race_beside_early_read",
       race_beside_early_read,
       {"Race reported between ", "<- both", "Race reported between ", "<- both"},
       1},
  };
  RUN_CASES(cases);
}

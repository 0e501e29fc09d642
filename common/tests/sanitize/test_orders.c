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

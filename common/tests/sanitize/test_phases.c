// Threads that wait for a phase of an mbarrier and may miss it, or take another one for it.
#define _GNU_SOURCE
#include "fault_cases.h"
#include "phase_report.h"

Test(phases, missed) {
  static const fault_case cases[] = {
      CASE(phase_missed, MISSED, "wait at ", "<- missed wait\n", "by thread (0,0,0)",
           "address full + 0x0", HINT, "before"),
      CASE(phase_missed_behind_many, MISSED, "wait at ", "<- missed wait\n", "by thread (0,0,0)"),
      CASE(phase_missed_by_warp, MISSED, "wait at ", "<- warp wait\n", "by thread (", HINT),
      CASE(phase_of_warpgroup, MISSED, "wait at ", "<- group wait\n", "by thread (32,0,0)",
           "arrival at ", "tiles.h:", "by thread (128,0,0)", HINT),
      CASE(phase_left_out, MISSED, "wait at ", "<- left out wait\n", "by thread (32,0,0)", HINT),
      CASE(phase_known_by_barrier, MISSED, "wait at ", "<- known wait\n", "by thread (32,0,0)",
           HINT),
  };
  RUN_CASES(cases);
}

// By which ways a thread may know that a phase is over, or that others have seen its end.
Test(phases, known) {
  static const fault_case cases[] = {
      CASE(phase_end_known, MISSED, "wait at ", "<- end known wait\n", "by thread (32,0,0)", HINT),
      CASE(phase_seen_by_barrier, MISSED, "wait at ", "<- seen wait\n", "by thread (32,0,0)", HINT),
      CASE(phase_seen_by_arrival, MISSED, "wait at ", "<- second wait\n", "by thread (32,0,0)",
           HINT),
      CASE(phase_left_out_later, MISSED, "wait at ", "<- third wait\n", "by thread (32,0,0)", HINT),
      CASE(phase_seen_by_lane, MISSED, "wait at ", "<- lane wait\n", "by thread (64,0,0)", HINT),
  };
  RUN_CASES(cases);
}

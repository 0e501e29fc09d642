// Threads that wait for a phase that the bytes of copies end, and may miss it, or take another one for it.
#define _GNU_SOURCE
#include "fault_cases.h"
#include "phase_report.h"

Test(phase_copies, missed) {
  static const fault_case cases[] = {
      CASE(phase_of_copy_missed, MISSED, "wait at ", "<- copy wait\n", "by thread (32,0,0)",
           "arrival at ", "<- copy arrival\n", "by thread (64,0,0)", HINT),
      CASE(phase_of_two_copiers, MISSED, "wait at ", "<- copiers wait\n", "by thread (32,0,0)",
           HINT),
      CASE(phase_of_copy_known, MISSED, "wait at ", "<- copy known wait\n", "by thread (64,0,0)",
           HINT),
      CASE(phase_of_announced_copy, MISSED, "wait at ", "<- announced wait\n", "by thread (96,0,0)",
           HINT),
  };
  RUN_CASES(cases);
}

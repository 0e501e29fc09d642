// Reads whose race with an atomic operation does no harm, because a compare-and-swap follows, and those where it does.
#define _GNU_SOURCE
#include "fault_cases.h"

#define RACE "Race reported between "

Test(guesses, reads_before_compare_and_swap) {
  static const fault_case cases[] = {
      {"guess_alone", guess_alone, {RACE, "<- alone ", "<- alone ", RACE, "<- alone "}, 1},
      CASE(guess_used, RACE, "<- used read"),
      CASE(guess_wider, RACE, "<- wider ", "<- wider "),
      CASE(guess_narrower_before, RACE, "<- narrower read", "<- narrower atomic"),
      CASE(guess_narrower_behind, RACE, "<- narrower atomic", "<- narrower read"),
      CASE(guess_slept, RACE, "<- slept ", "<- slept ", "byte 0 of an allocation of 4 bytes"),
      CASE(guess_added, RACE, "<- added atomic", "<- added read"),
      {"guess_stopped",
       guess_stopped,
       {RACE, "<- stopped atomic", "<- stopped read"},
       1}, // and the fault
      CASE(guess_upper_half, RACE, "<- upper atomic", "<- upper read"),
      {"guess_five", guess_five, {RACE, "<- five atomics", "<- first of five"}, 4},
      {"guess_written",
       guess_written,
       {RACE "write and read of __global__ memory", "<- plain write", "<- plain guess",
        RACE "write and atomic operation of __global__ memory"},
       1},
  };
  RUN_CASES(cases);
}

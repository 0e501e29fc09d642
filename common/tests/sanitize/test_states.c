// The states of random numbers: nothing is reported of those that curand_init has begun.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(states, copied_whole) {
  static const fault_case cases[] = {
      CASE(states_of_xorwow, "Uninitialized __global__ memory read of size ", "// <- state"),
      CASE(states_of_philox, "Uninitialized __global__ memory read of size ", "// <- state"),
  };
  RUN_CASES(cases);
}

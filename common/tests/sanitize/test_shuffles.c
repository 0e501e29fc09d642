// Lanes that read a lane which takes no part in their shuffle.
#define _GNU_SOURCE
#include "fault_cases.h"

#define UNDEFINED                                                                                  \
  "hint: the value that it gets is undefined: let the lane take part, or read a lane that does"

Test(shuffles, lanes_that_take_no_part) {
  static const fault_case cases[] = {
      CASE(shuffle_of_other_mask, "<- masked", "by thread (32,0,0) in block (0,0,0): ",
           "it reads lane 16, which has exited or is not in the mask", "31 more like this",
           UNDEFINED),
      CASE(shuffle_of_no_thread, "<- short", "by thread (32,0,0) in block (0,0,0): ",
           "it reads lane 8, which the block does not have", UNDEFINED),
  };
  RUN_CASES(cases);
}

// Stores of objects that a call returns: no report where there is a barrier, and one where there is none.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(returned, objects) {
  static const fault_case cases[] = {
      CASE(returned_structs, "Uninitialized __shared__ memory read of size 4 bytes",
           "// <- returned struct", "no thread of the block has written here yet"),
      CASE(returned_halves, "Race reported between ", " of __shared__ memory", "<- returned ",
           "<- returned "),
  };
  RUN_CASES(cases);
}

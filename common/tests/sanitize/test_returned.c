// Stores of objects that a call returns, and loads of those that it is given: no report where there is a barrier, and
// one where there is none.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(returned, objects) {
  static const fault_case cases[] = {
      CASE(returned_structs, "Uninitialized __shared__ memory read of size 4 bytes",
           "// <- returned struct", "no thread of the block has written here yet"),
      CASE(short_functions, "Race reported between ", " of __shared__ memory", "<- short ",
           "<- short ", "address rows + 0x"),
      {"passed_halves",
       passed_halves,
       {"Race reported between ", " of __shared__ memory", "<- passed ", "<- passed "},
       3},
      CASE(united_halves, "Race reported between ", " of __shared__ memory", "<- united ",
           "<- united "),
      CASE(returned_halves, "Race reported between ", " of __shared__ memory", "<- returned ",
           "<- returned "),
  };
  RUN_CASES(cases);
}

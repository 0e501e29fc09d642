// memcpy, memmove and memset in kernels.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(bytes, functions) {
  static const fault_case cases[] = {
      CASE(bytes_read_before_barrier, "Race reported between ", "// <- row"),
      {"bytes_of_the_standard_library",
       bytes_of_the_standard_library,
       {"Race reported between ", "<- standard ", "Race reported between ", "<- standard "},
       1},
      CASE(bytes_unwritten, "Uninitialized __shared__ memory read of size 32 bytes", "// <- part",
           "by thread (0,0,0) in block (0,0,0): address from"),
      CASE(bytes_set_by_one, "Race reported between ", "// <- clear"),
      CASE(bytes_past_the_end, "Invalid __global__ read of size 32 bytes", "// <- end",
           "inside an allocation of 40 bytes", "hint: the access begins inside and ends outside"),
  };
  RUN_CASES(cases);
}

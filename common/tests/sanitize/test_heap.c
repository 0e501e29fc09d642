// Memory that kernels have from malloc and new.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(heap, memory_of_kernels) {
  static const fault_case cases[] = {
      CASE(heap_past_the_end, "Uninitialized __global__ memory read of size 4 bytes", "// <- list",
           "by thread (0,0,0) in block (0,0,0)"),
      CASE(heap_shared_without_barrier, "Race reported between ", "__global__ memory",
           "// <- share"),
      CASE(heap_unwritten, "Uninitialized __global__ memory read of size 4 bytes", "// <- use",
           "by thread (0,0,0) in block (0,0,0)", "31 more like this"),
  };
  RUN_CASES(cases);
}

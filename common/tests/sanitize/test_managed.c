// Managed memory: it is reported where neither the host nor a kernel has written to it, whatever the host has written.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(managed, unwritten) {
  static const fault_case cases[] = {
      CASE(managed_sum, "Uninitialized __global__ memory read of size 4 bytes", "// <- managed sum",
           "byte 0 of an allocation of 4 bytes", "neither the host nor a kernel has written here"),
      CASE(managed_bytes, "Uninitialized __global__ memory read of size 1 byte",
           "// <- managed byte", "29 more like this"),
      CASE(managed_copied, "Uninitialized __global__ memory read of size 4 bytes",
           "// <- copied word", "byte 124 of an allocation of 128 bytes"),
  };
  RUN_CASES(cases);
}

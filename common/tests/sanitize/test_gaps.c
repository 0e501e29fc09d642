// Bytes that were never written, in the middle of what a thread copies as a whole.
#define _GNU_SOURCE
#include "fault_cases.h"

Test(gaps, no_padding) {
  static const fault_case cases[] = {
      CASE(unwritten_last_half, "Uninitialized __shared__ memory read of size 8 bytes",
           "<- four halves"),
      CASE(unwritten_last_bytes, "Uninitialized __shared__ memory read of size 4 bytes",
           "<- four bytes"),
      CASE(unwritten_read_again, "Uninitialized __shared__ memory read of size 4 bytes",
           "<- first look"),
      CASE(unwritten_first_double, "Uninitialized __shared__ memory read of size 24 bytes",
           "<- three doubles", "by thread (1,0,0)"),
      CASE(unwritten_third_float, "Uninitialized __shared__ memory read of size 24 bytes",
           "<- six floats"),
  };
  RUN_CASES(cases);
}

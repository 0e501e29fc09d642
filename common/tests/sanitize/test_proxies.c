// Box copies that overwrite what threads have read or written, without a fence.proxy.async between.
#define _GNU_SOURCE
#include "fault_cases.h"

#define OVERWRITES(access, used)                                                                   \
  "Box copy overwrites __shared__ memory that a thread has " used " without a fence.proxy.async",  \
      access " of 2 bytes at ", "<- " access, "write by a box copy at ", "<- fetch",               \
      "by thread (0,0,0)",                                                                         \
      "hint: threads and the copy engine reach shared memory in different ways, which a barrier",  \
      "must execute reads_before_copies() between the barrier and the copy, or each thread"

Test(proxies, copies) {
  static const fault_case cases[] = {
      CASE(refill_unfenced, OVERWRITES("read", "read")),
      CASE(refill_unfenced_by_readers, OVERWRITES("read", "read")),
      CASE(refill_fenced_too_soon, OVERWRITES("read", "read")),
      CASE(refill_of_written, OVERWRITES("write", "written")),
      CASE(refill_of_other_role, "Box copy overwrites", "<- read", "<- fetch",
           "by thread (32,0,0)"),
      CASE(refill_behind_shuffle, "Box copy overwrites", "<- read", "<- fetch",
           "by thread (32,0,0)"),
      CASE(refill_unfenced_by_warp, OVERWRITES("read", "read")),
  };
  RUN_CASES(cases);
}

Test(proxies, places_of_the_fence) {
  static const fault_case cases[] = {
      CASE(refill_unfenced_by_lane, "Box copy overwrites", "<- read", "by thread (33,0,0)",
           "<- fetch"),
      CASE(refill_in_next_block, OVERWRITES("read", "read")),
      CASE(refill_after_old_fence, OVERWRITES("read", "read")),
      CASE(refill_for_warp, OVERWRITES("read", "read")),
      CASE(refill_fenced_by_third, OVERWRITES("read", "read")),
      CASE(refill_fenced_by_ended, "Box copy overwrites", "<- read", "by thread (40,0,0)",
           "<- fetch"),
      CASE(refill_behind_atomic, OVERWRITES("read", "read")),
      CASE(refill_by_another, OVERWRITES("read", "read")),
  };
  RUN_CASES(cases);
}

// Blocks that count themselves by atomic operations, which lack an order on the one side or the other.
#define _GNU_SOURCE
#include "fault_cases.h"

#define RACE "Race reported between write and read of __global__ memory"

Test(counters, last_block) {
  static const fault_case cases[] = {
      CASE(last_block, RACE, "<- last write", "<- last read", "hint: blocks run in any order"),
      CASE(last_block_without_fence, RACE, "<- counted write", "<- counted read",
           "hint: an atomic operation tells the other blocks nothing"),
      CASE(last_block_unacquired, RACE, "<- acquired write", "<- acquired read",
           "hint: a block that learns by an atomic operation how far another one is"),
      CASE(last_block_by_barrier, RACE, "<- behind barrier write", "<- behind barrier read",
           "hint: a block that learns by an atomic operation"),
      CASE(last_block_by_warp_barrier, RACE, "<- behind barrier write", "<- behind barrier read",
           "hint: a block that learns by an atomic operation"),
      CASE(last_warp_unacquired, RACE, "<- last warp write", "<- last warp read",
           "hint: a block that learns by an atomic operation"),
      CASE(last_block_relaxed, RACE, "<- acquired write", "<- acquired read",
           "put __threadfence() between the operation and the access"),
      CASE(last_block_by_shuffle, RACE, "<- told write", "<- told read",
           "hint: a block that learns by an atomic operation"),
      CASE(last_block_of_thread_gone, RACE, "<- gone write", "<- gone read",
           "hint: a block that learns by an atomic operation"),
      CASE(last_block_by_turn, RACE, "<- turn write", "<- turn read",
           "hint: a block that learns by an atomic operation"),
      CASE(counter_cleared, "Race reported between", "<- cleared ", "<- cleared ",
           "hint: warps run in any order"),
      CASE(last_block_uncounted, RACE, "<- uncounted write", "<- uncounted read",
           "hint: blocks run in any order"),
      CASE(last_block_counts_for_itself, RACE, "<- own counter write", "<- own counter read",
           "hint: blocks run in any order"),
  };
  RUN_CASES(cases);
}

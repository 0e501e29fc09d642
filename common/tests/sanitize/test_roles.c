// Parts of a block that do not wait for each other or for box copies as they must.
#define _GNU_SOURCE
#include "fault_cases.h"

#define UNDER_WAY(access)                                                                          \
  "Race reported between an asynchronous copy under way and " access " of __shared__ memory"

Test(roles, box_copies) {
  static const fault_case cases[] = {
      CASE(box_read_early, UNDER_WAY("read"), "write by a box copy at fetch", "<- fetch",
           "by thread (32,0,0)", "<- early read", "address 0x",
           "hint: each thread that uses what a copy brings must wait for the phase of the barrier "
           "that counts its bytes; if it does: have the bytes been announced, and has its wait the "
           "right parity? Or has the copy started too early, because more arrivals come to the "
           "barrier of the empty place than it is made for?\n"),
      CASE(box_waited_by_one, "Race reported between ", " of __shared__ memory", "<- ", "<- ",
           "in kernel by_one_kernel"),
      // The thread that does not hold the next copy back may also be too late for the phase of the first one.
      {"box_overwrites",
       box_overwrites,
       {"Race reported between ", "of __shared__ memory", "fetch", "hint: ", "made for",
        "Barrier error detected. A thread may miss the phase for which it waits"},
       1},
      CASE(box_waited_by_ended, "Race reported between ", "<- fetch", "<- read behind the ended"),
      // Nor does the arrival for the next phase know of the wait of the thread that has ended.
      {"phase_waited_by_ended",
       phase_waited_by_ended,
       {"Barrier error detected. A thread may miss the phase", "<- wait behind the ended",
        "by thread (64,0,0)"},
       1},
      CASE(box_never_waited, "Asynchronous copy of 8192 bytes never waited for", "<- fetch",
           "by thread (0,0,0) in block (0,0,0): address 0x", "hint: a thread must wait",
           "before the block ends, or the copy should not have been started\n"),
      CASE(box_counts_on_hidden,
           "Box copy counts on a barrier that was not made visible to the copy engine",
           "barrier made at ", "<- hidden barrier", "<- fetch", "address full + 0x0",
           "hint: barriers_created()"),
      CASE(box_counts_on_shown_late,
           "Box copy counts on a barrier that was not made visible to the copy engine",
           "barrier made at ", "<- barrier shown late", "<- fetch",
           "hint: barriers_created() by the thread that makes the barrier, and then "
           "__syncthreads()"),
      CASE(box_counts_on_shown_by_other,
           "Box copy counts on a barrier that was not made visible to the copy engine",
           "barrier made at ", "<- barrier shown by another", "<- fetch"),
  };
  RUN_CASES(cases);
}

Test(roles, barriers) {
  static const fault_case cases[] = {
      CASE(phase_arrived_early, "Race reported between ", " of __shared__ memory", "<- arrival ",
           "<- arrival "),
      CASE(phase_of_other_lane, "Race reported between ", " of __shared__ memory", "<- lanes ",
           "<- lanes "),
      CASE(phase_of_half_warp, "Race reported between ", " of __shared__ memory", "<- half ",
           "<- half "),
      CASE(phase_waited_by_lane, "Race reported between ", " of __shared__ memory", "<- told ",
           "<- told "),
      CASE(turn_passed_early, "Race reported between ", " of __shared__ memory", "<- turn ",
           "<- turn "),
      CASE(barrier_made_again, "Barrier made where the block has made one already",
           "barrier made at ", "<- first of two", "barrier made at ", "<- second of two",
           "address ", "hint: a barrier is made once"),
      CASE(turn_passed_at_once,
           "Barrier error detected. A thread may arrive twice in one phase of a named barrier",
           "first arrival at ", "<- one turn", "second arrival at ", "<- another turn"),
      CASE(turn_passed_twice,
           "Barrier error detected. A thread may arrive twice in one phase of a named barrier",
           "first arrival at ", "<- first turn", "second arrival at ", "<- second turn",
           "hint: a turn may be passed on once only before it is taken"),
  };
  RUN_CASES(cases);
}

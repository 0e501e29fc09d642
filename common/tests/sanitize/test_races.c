// Accesses without an order between lanes, warps and blocks.
#define _GNU_SOURCE
#include "fault_cases.h"

#define SHARED_RACE(a, b) "Race reported between " a " and " b " of __shared__ memory"

Test(races, shared_races) {
  static const fault_case cases[] = {
      CASE(read_before_barrier, "Race reported between ", " of __shared__ memory",
           "of 4 bytes at reverse_kernel in ", "<- reverse ", "of 4 bytes at reverse_kernel",
           "address tile + 0x", "hint: warps run in any order: put __syncthreads()"),
      CASE(write_before_barrier, "Race reported between ", " of __shared__ memory", "<- rounds ",
           "<- rounds ", "hint: warps run in any order: put __syncthreads()"),
      CASE(write_by_two_warps, SHARED_RACE("write", "write"), "<- same", "<- same",
           "address total + 0x0"),
      CASE(neighbours_in_shared, SHARED_RACE("write", "write"), "write of 1 byte ", "<- neighbours",
           "<- neighbours", "address bytes + 0x"),
      CASE(read_by_other_warp, "Race reported between ", " of __shared__ memory", "<- readers ",
           "<- readers ", "address value + 0x0"),
      CASE(read_by_own_warp, "Race reported between ", " of __shared__ memory", "<- readers ",
           "<- readers ", "address value + 0x0", "__syncwarp()"),
      CASE(read_of_second_byte, "Race reported between ", " of __shared__ memory",
           "<- second byte ", "<- second byte "),
      CASE(read_of_first_byte, "Race reported between ", " of __shared__ memory", "<- bytes ",
           "<- bytes ", "address bytes + 0x0"),
  };
  RUN_CASES(cases);
}

Test(races, races_in_a_warp) {
  static const fault_case cases[] = {
      CASE(read_by_other_lane, "Race reported between ", " of __shared__ memory", "<- lanes ",
           "<- lanes ", "hint: lanes of a warp do not run in lockstep: put __syncwarp()"),
      CASE(shuffle_is_no_barrier, SHARED_RACE("write", "read"), "<- shuffle write",
           "<- shuffle read", "hint: lanes of a warp do not run in lockstep"),
      CASE(half_warp_barrier, "Race reported between ", " of __shared__ memory", "<- halves ",
           "<- halves ", "__syncwarp()"),
      CASE(fragment_without_barrier, SHARED_RACE("write", "read"), "<- fragment write",
           "<- fragment read", "__syncwarp()"),
      CASE(fragment_of_other_warp, "Race reported between ", " of __shared__ memory", "<- warps ",
           "<- warps ", "__syncthreads()"),
  };
  RUN_CASES(cases);
}

#define GLOBAL_RACE(a, b) "Race reported between " a " and " b " of __global__ memory"

Test(races, global_races) {
  static const fault_case cases[] = {
      CASE(blocks_write_same, GLOBAL_RACE("write", "write"), "<- blocks", "in block (0,0,0)",
           "<- blocks", "by thread (0,0,0) in block (1,0,0): byte 0 of an allocation of 512 bytes",
           "more like this", "hint: blocks run in any order"),
      CASE(two_instances, GLOBAL_RACE("write", "write"), "<- instance", "<- instance"),
      CASE(block_reads_other, "Race reported between ", " of __global__ memory", "<- next ",
           "<- next ", "hint: blocks run in any order"),
      CASE(block_writes_what_others_read, GLOBAL_RACE("read", "write"), "<- scale read",
           "<- scale write", "by thread (0,0,0) in block (3,0,0): byte 0 of an allocation of 4"),
      CASE(global_within_block, "Race reported between ", " of __global__ memory", "<- exchange ",
           "<- exchange ", "hint: warps run in any order"),
  };
  RUN_CASES(cases);
}

// Which block came first depends on the order of blocks; the report names the two that it is about.
Test(races, names_the_blocks) {
  const fault_case first =
      CASE(blocks_write_same, "in block (0,0,0)\n", "<- blocks", "in block (1,0,0): byte 0 of ");
  const fault_case second =
      CASE(blocks_write_same, "in block (1,0,0)\n", "<- blocks", "in block (0,0,0): byte 0 of ");
  expect_report(&first, 1);
  emulator_shuffle_blocks();
  expect_report(&second, 1);
}

// A report for each distance, since each asks for another mend; warps are not reported twice.
Test(races, further_apart) {
  static const fault_case cases[] = {
      {"race_further_apart",
       race_further_apart,
       {"<- apart", "hint: lanes of a warp write to the same place in one line: let one of them do",
        "<- apart", "hint: warps write to the same place in one line: let one thread do it",
        "<- apart", "hint: blocks run in any order"},
       2}};
  RUN_CASES(cases);
}

Test(races, atomics) {
  static const fault_case cases[] = {
      CASE(atomic_and_plain, "Race reported between ", "atomic operation", " of __global__ memory",
           "<- histogram ", "<- histogram "),
      CASE(variable_of_program, "Race reported between ", " of __global__ memory", "<- variable",
           "in block (0,0,0)", "<- variable", "in block (1,0,0): address blocks_done + 0x0"),
      CASE(flag_not_read, "Race reported between ", " of __shared__ memory", "<- flagged ",
           "<- flagged "),
      CASE(lock, "Race reported between ", " of __global__ memory", "<- lock", "<- lock"),
  };
  RUN_CASES(cases);
}

// What asynchronous copies and box copies read, changed while they are under way.
#define _GNU_SOURCE
#include "fault_cases.h"

#define RACE "Race reported between read by an asynchronous copy and write of __global__ memory\n"

Test(sources, copies) {
  static const fault_case cases[] = {
      CASE(source_written_by_itself, RACE, "of 4 bytes at ", "<- itself copy\n",
           "by thread (0,0,0)", "<- itself write\n", "by thread (0,0,0)",
           "hint: a copy reads its source at any time until the wait for it is over: the source "
           "may be written behind __pipeline_wait_prior(), "),
      CASE(source_written_right_before, RACE, "<- before copy\n", "<- before write\n"),
      CASE(source_written_by_others, RACE, "<- others copy\n", "<- others write\n",
           " and by other threads behind __syncthreads() as well\n"),
      CASE(source_written_before_wait, RACE, "<- roles copy\n", "<- roles write\n",
           "31 more like this", "hint: a copy reads its source"),
      CASE(source_written_in_place, RACE, "<- next\n", "<- in place\n",
           "hint: a copy reads its source"),
  };
  RUN_CASES(cases);
}

Test(sources, wide_copies) {
  static const fault_case cases[] = {
      CASE(source_written_at_its_end, "Race reported between ", " of __global__ memory", "<- wide ",
           "<- wide "),
  };
  RUN_CASES(cases);
}

Test(sources, box_copies) {
  static const fault_case cases[] = {
      CASE(box_source_written, RACE, "of 128 bytes at ", "<- fetch\n", "by thread (0,0,0)",
           "<- box write\n", "byte 138 of an allocation of 8192 bytes",
           "behind the wait for the barrier that counts the copy's bytes"),
      CASE(box_source_written_by_others, RACE, "<- fetch\n", "by thread (0,0,0)",
           "<- box others write\n", "by thread (40,0,0)",
           "byte 8190 of an allocation of 8192 bytes"),
  };
  RUN_CASES(cases);
}

Test(sources, maps) {
  static const fault_case cases[] = {
      CASE(box_map_on_host, "Invalid __global__ read of size 128 bytes", "<- fetch\n",
           "by thread (0,0,0)", "hint: is it a pointer to memory of the host"),
  };
  RUN_CASES(cases);
}

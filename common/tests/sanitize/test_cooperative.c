// Blocks of a cooperative launch that wait for each other.
#define _GNU_SOURCE
#include "fault_cases.h"
#include <cuda_runtime_api.h>

#define GLOBAL_RACE "Race reported between "
#define WITH_SYNC                                                                                  \
  "hint: the blocks of a cooperative launch run at the same time: put grid.sync() between the two"

Test(cooperative, races) {
  static const fault_case cases[] = {
      CASE(cooperative_words, GLOBAL_RACE, " of __global__ memory", "<- words write",
           "<- words write", WITH_SYNC),
      CASE(cooperative_flag, GLOBAL_RACE, " of __global__ memory", "<- flag write", "<- flag read",
           "hint: an atomic operation tells the other blocks nothing of accesses before it"),
      CASE(cooperative_plain_word, GLOBAL_RACE, " of __global__ memory", "<- plain write",
           "<- plain add", "hint: one of the two is no atomic operation: if they may meet"),
      CASE(cooperative_grid, GLOBAL_RACE, " of __global__ memory", "<- grid ", "<- grid ",
           WITH_SYNC),
      CASE(cooperative_cluster, GLOBAL_RACE, " of __global__ memory", "<- cluster ", "<- cluster ",
           WITH_SYNC),
      CASE(cooperative_cluster_of_one, GLOBAL_RACE, " of __global__ memory", "<- of one ",
           "<- of one ", WITH_SYNC),
  };
  RUN_CASES(cases);
}

Test(cooperative, deadlocks) {
  static const fault_case cases[] = {
      CASE(cooperative_missing, "grid.sync() in ",
           ": deadlock: 1 block has ended and never comes to this barrier"),
      CASE(cooperative_stuck, "Deadlock: no thread of block (1,0,0) can go on",
           "thread 7 (warp 0) waits at __syncwarp()"),
  };
  RUN_CASES(cases);
}

Test(cooperative, too_many_blocks) {
  static const fault_case many = {"too many", cooperative_too_many, {NULL}, 0};
  char *report = report_of(&many, false, 0);
  cr_assert_not_null(strstr(report, ": a cooperative launch of 17 blocks; under sanitize its "
                                    "blocks take turns, and at most 16 can: take a problem with "
                                    "fewer blocks, or run without sanitize\n"
                                    "cudaErrorNotSupported, attribute 1\n"),
                     "%s", report);
  free(report);
}

// A GPU with two multiprocessors gives even a small problem several tiles for a block. Only a wish changes their number.
Test(cooperative, how_many_multiprocessors) {
  int count = 0;
  unsetenv("EMU_MULTIPROCESSORS");
  cr_assert_eq(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  cr_expect_eq(count, 2, "%d", count);
  setenv("EMU_MULTIPROCESSORS", "4", 1);
  cr_assert_eq(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  cr_expect_eq(count, 4, "%d", count);
}

Test(cooperative, stages_of_a_pipeline) {
  static const fault_case cases[] = {
      CASE(stage_released_early, "Race reported between ", "<- stage ", "<- stage ",
           "hint: the copy may overwrite what other threads still use"),
  };
  RUN_CASES(cases);
  static const fault_case never = {"never released", stage_never_released, {NULL}, 0};
  char *report = report_of(&never, true, 0);
  cr_assert_not_null(strstr(report, "wait at pipeline.producer_acquire() in "), "%s", report);
  cr_assert_not_null(strstr(report, "64 of 64 arrivals are still to come"), "%s", report);
  free(report);
}

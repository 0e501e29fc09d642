// The emulator ends kernels that would never end, and says where they are, in all three modes.
#define _GNU_SOURCE
#include "fault_report.h"
#include "limit_faults.h"

#include <stdlib.h>
#include <time.h>

static void be_impatient(void) { cr_assert_eq(setenv("LAB_LIMIT", "0.1", 1), 0); }

TestSuite(limit, .init = be_impatient, .timeout = 60);

static void expect_line(void (*launch)(void), const char *kernel, const char *others) {
  const clock_t begin = clock();
  char *report = stderr_of(launch);                                  // now the line is known
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC; // of all workers
  cr_expect_lt(seconds, 3, "%s ends after %g seconds of processor time", kernel, seconds);
  char where[64], name[64];
  snprintf(where, sizeof where, "limit_faults.cu:%d\n", line_loop);
  snprintf(name, sizeof name, "in kernel %s\n", kernel);
  const char *const says[] = {
      "========= Launch timed out: block (",
      ") has run for 0.1 seconds of processor time and has not ended\n",
      where,
      "by thread (",
      others,
      "hint: does the loop at this line end, and each loop that calls this function?",
      "LAB_LIMIT=1 ",
      name,
      "abandoned: cudaErrorLaunchTimeout until cudaDeviceReset"};
  const char *rest = report;
  for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
    rest = strstr(rest, says[i]);
    cr_assert_not_null(rest, "%s: the report lacks \"%s\":\n%s", kernel, says[i], report);
  }
  cr_assert_null(strstr(rest, "Launch timed out"), "two reports of one launch:\n%s", report);
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  cr_assert_eq(cudaDeviceReset(), cudaSuccess);
  cr_assert(healthy_launch(), "no launch works after:\n%s", report);
  free(report);
}

Test(limit, loop) { expect_line(endless_loop, "loop_kernel", "(37,0,0) in block (0,0,0)\n"); }

Test(limit, loop_in_every_block) {
  expect_line(endless_loop_in_blocks, "loop_everywhere_kernel", " ready to run\n");
}

// A header may have several callers: the report goes on to the line of the kernel's own file.
Test(limit, loop_in_headers) {
  expect_line(endless_loop_in_headers, "headers_kernel", " ready to run\n");
}

// The loop's line is in a function that is called: the report says where.
Test(limit, loop_in_function) {
  expect_line(endless_loop_in_function, "call_kernel", " ready to run\n");
}

Test(limit, spin) {
  expect_line(endless_spin, "spin_kernel", "threads 1-63 (warps 0-1) are ready to run\n");
}

Test(limit, poll) { expect_line(endless_poll, "poll_kernel", " ready to run\n"); }

// Each block polls, on a thread of its own, or all on one under an observer. They end long before each has had its 0.1
// seconds.
Test(limit, cooperative_poll) {
  const clock_t begin = clock();
  char *report = stderr_of(endless_cooperative_poll);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  cr_expect_lt(seconds, 4, "the launch ends after %g seconds of processor time", seconds);
  cr_expect(strstr(report, "the blocks of this cooperative launch have run for 0.2 seconds of "
                           "processor time together, and block (") ||
                strstr(report, "Launch timed out: block ("),
            "%s", report);
  cr_assert_eq(cudaDeviceReset(), cudaSuccess);
  cr_assert(healthy_launch(), "no launch works after:\n%s", report);
  free(report);
}

Test(limit, sleep) { expect_line(endless_sleep, "sleep_kernel", " ready to run\n"); }

Test(limit, barriers) { expect_line(endless_barriers, "barriers_kernel", "thread"); }

Test(limit, votes) { expect_line(endless_votes, "votes_kernel", "thread"); }

// The limit is for a block, not for the launch.
Test(limit, many_blocks_that_end) {
  cr_assert_eq(setenv("EMU_WORKERS", "1", 1), 0);
  char *report = stderr_of(many_blocks);
  cr_expect_str_empty(report, "%s", report);
  cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
  free(report);
}

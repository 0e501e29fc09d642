// Tests the emulator's reports and errors when a kernel has a fault.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "faults.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Reports ------------------------------------------------------------------------------------

Test(faults, deadlock) {
  // The lines are known once the kernel has run.
  free(stderr_of(fault_deadlock_barrier));
  cudaDeviceReset();
  char barrier[128], shuffle[128];
  snprintf(barrier, sizeof barrier, "threads 0-31, 48-63 (warps 0-1) wait at __syncthreads() in ");
  snprintf(shuffle, sizeof shuffle, "faults.cu:%d for the lanes 0xffffffff\n", line_shuffle);
  char barrier_line[32];
  snprintf(barrier_line, sizeof barrier_line, "faults.cu:%d\n", line_barrier);
  cr_assert_gt(line_barrier, line_shuffle);
  expect_report(
      &(fault_case){fault_deadlock_barrier,
                    cudaErrorLaunchFailure,
                    {"========= Barrier error detected. Deadlock: no thread of block (", barrier,
                     barrier_line, "threads 32-47 (warp 1) wait at __shfl_sync() in ", shuffle}});
  expect_report(&(fault_case){fault_deadlock_barrier,
                              cudaErrorLaunchFailure,
                              {"threads 64-127 (warps 2-3) have exited\n",
                               "in kernel deadlock_kernel\n", "cudaErrorLaunchFailure until"}});
  expect_report(&(fault_case){
      fault_deadlock_scattered,
      cudaErrorLaunchFailure,
      {"threads 0, 3, 6, 9, 12, 15, 18, 21 and 24 more (warps 0-2) wait at __syncwarp() in ",
       "threads 1-2, 4-5, 7-8, 10-11, 13-14, 16-17, 19-20, 22-23 and 48 more (warps 0-2) wait at "
       "__syncthreads() in "}});
}

Test(faults, warps) {
  free(stderr_of(fault_outside_mask));
  cudaDeviceReset();
  char outside[160], ballot[64], shuffle[64];
  snprintf(outside, sizeof outside,
           "faults.cu:%d: the calling thread is lane 20, which its mask 0x0000ffff does not name",
           line_outside);
  expect_report(
      &(fault_case){fault_outside_mask,
                    cudaErrorLaunchFailure,
                    {"__ballot_sync() in ", outside, "by thread (20,0,0) in block (0,0,0)",
                     "in kernel outside_mask_kernel"}});
  free(stderr_of(fault_mixed_operations));
  cudaDeviceReset();
  snprintf(shuffle, sizeof shuffle, "faults.cu:%d\n", line_shuffle);
  snprintf(ballot, sizeof ballot, "faults.cu:%d\n", line_ballot);
  expect_report(&(fault_case){fault_mixed_operations,
                              cudaErrorLaunchFailure,
                              {"Divergent threads in a warp",
                               "the lanes 0x000000ff wait at "
                               "__shfl_xor_sync() in ",
                               shuffle, "lane 8 comes to __ballot_sync() in ", ballot}});
  expect_report(&(fault_case){
      fault_bad_width, cudaErrorLaunchFailure, {"width 12 is not a power of two from 1 to 32"}});
}

Test(faults, memory) {
  expect_report(&(fault_case){fault_read_past_end,
                              cudaErrorIllegalAddress,
                              {"========= Invalid ", " at address 0x",
                               "36 bytes past the end of an allocation of 4096 bytes\n"
                               "=========     at touch_kernel in ",
                               "by thread (5,0,0) in block (2,0,0)", "in kernel touch_kernel"}});
  expect_report(&(fault_case){fault_read_past_small,
                              cudaErrorIllegalAddress,
                              {"212 bytes past the end of an allocation of 300 bytes\n"}});
  expect_report(&(fault_case){fault_write_before_start,
                              cudaErrorIllegalAddress,
                              {"8 bytes before the start of an allocation of 4096 bytes\n"}});
  expect_report(
      &(fault_case){fault_read_null, cudaErrorIllegalAddress, {"address 0x10: a null pointer"}});
  expect_report(&(fault_case){fault_use_after_free,
                              cudaErrorIllegalAddress,
                              {"inside an allocation of 4096 bytes that has been freed"}});
  expect_report(&(fault_case){
      fault_stack_overflow,
      cudaErrorIllegalAddress,
      {"Stack overflow: a thread has 64 KiB of stack", "in kernel recursion_kernel"}});
  expect_report(&(fault_case){
      fault_dynamic_shared_overrun,
      cudaErrorIllegalAddress,
      {"Invalid __shared__ write: block (0,0,0) has written behind the end of dynamic shared "
       "memory",
       "address 0xa0 of dynamic shared memory, of which the launch asked for 100 bytes",
       "hint: make sanitize says which line has done it", "in kernel overrun_kernel"}});
  expect_report(&(fault_case){
      fault_dynamic_shared_overrun_far,
      cudaErrorIllegalAddress,
      {"Invalid __shared__ ",
       ": 3960 bytes past the end of dynamic shared memory (100 bytes asked for at the launch)"}});
}

// `make` may build a program again while it runs, as `watch` does. The old one is read all the same. The copy prints
// only if it fails, for it says as well how many tests it finished.
Test(faults, a_program_that_was_replaced) {
  const fault_case stray = {fault_read_past_end,
                            cudaErrorIllegalAddress,
                            {"at touch_kernel in common/tests/emulator/faults.cu:",
                             "by thread (5,0,0)", "hint: make sanitize looks at each access"}};
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  cr_assert_gt(length, 0);
  self[length] = '\0';
  if (getenv("LAB_REPLACED")) {
    cr_assert_eq(unlink(self), 0);
    expect_report(&stray);
    return;
  }
  char folder[] = "/tmp/lab-replaced-XXXXXX", command[16384];
  cr_assert(mkdtemp(folder));
  snprintf(command, sizeof command,
           "libraries=$(dirname '%s'); cp '%s' %s/copy && env -u BXFI_MAP LAB_REPLACED=1 "
           "LD_LIBRARY_PATH=$libraries:$libraries/../.. %s/copy --filter "
           "'faults/a_program_that_was_replaced' >%s/out 2>&1; status=$?; [ $status = 0 ] || cat "
           "%s/out >&2; "
           "rm -rf %s; exit $status",
           self, self, folder, folder, folder, folder, folder);
  cr_assert_eq(system(command), 0);
}

#ifdef __x86_64__ // where these are not faults, the kernel goes on
Test(faults, x86) {
  char line[32];
  free(stderr_of(fault_write_without_line)); // the line is known once the kernel has run
  cudaDeviceReset();
  snprintf(line, sizeof line, "faults.cu:%d\n", line_lineless + 1);
  expect_report(&(fault_case){
      fault_write_without_line, cudaErrorIllegalAddress, {"at lineless_kernel in ", line}});
  expect_report(&(fault_case){fault_read_past_end, cudaErrorIllegalAddress, {"Invalid read at"}});
  expect_report(
      &(fault_case){fault_write_before_start, cudaErrorIllegalAddress, {"Invalid write at"}});
  expect_report(&(fault_case){
      fault_misaligned, cudaErrorMisalignedAddress, {"Misaligned access of 16 bytes"}});
  expect_report(&(fault_case){fault_read_wild,
                              cudaErrorIllegalAddress,
                              {"Invalid access: no memory can have this address"}});
  expect_report(
      &(fault_case){fault_divide_by_zero, cudaErrorLaunchFailure, {"Integer division by zero"}});
}
#endif

Test(faults, stops) {
  expect_report(&(fault_case){
      fault_trap,
      cudaErrorLaunchFailure,
      {"__trap() was called", "by thread (0,0,0) in block (0,0,0)", "in kernel trap_kernel"}});
  free(stderr_of(fault_assert));
  cudaDeviceReset();
  char where[128];
  snprintf(where, sizeof where,
           "faults.cu:%d: void assert_kernel(int): block: [0,0,0], thread: "
           "[3,0,0] ",
           line_assert);
  expect_report(
      &(fault_case){fault_assert, cudaErrorAssert, {where, "Assertion `x < limit` failed.\n"}});
  expect_report(&(fault_case){fault_launch_in_kernel,
                              cudaErrorInvalidConfiguration,
                              {"Launch of trap_kernel inside a kernel: no GPU can run"}});
}

Test(faults, one_report_a_launch) {
  setenv("EMU_WORKERS", "4", 1);
  char *report = stderr_of(fault_in_every_block);
  const char *first = strstr(report, "in kernel together_kernel");
  cr_assert_not_null(first, "%s", report);
  cr_assert_null(strstr(first + 1, "in kernel"), "%s", report);
  free(report);
}

// An abandoned launch leaves the emulator in order for the next one.
Test(faults, again_and_again) {
  setenv("EMU_WORKERS", "1", 1);
  for (int i = 0; i < 3; i++) {
    expect_report(&(fault_case){fault_large_deadlock,
                                cudaErrorLaunchFailure,
                                {"threads 0, 3, 6, 9", " and 334 more (warps 0-31) wait at"}});
  }
}

// ---- Warps --------------------------------------------------------------------------------------

Test(warp, goes_on_without_lanes_that_exit) {
  int got[32];
  unsigned active[32];
  read_from_exited_lanes(got, active);
  for (int lane = 0; lane < 20; lane++) {
    const int left =
        (int)(poison_bits(POISON_LANE) * 0x10001u); // what lane 20, which has left, gives
    const int read = lane == 19 ? left : 100 + lane + 1;
    const int expected = lane < 10 ? read + 1000 * 10 : read;
    cr_assert_eq(got[lane], expected, "lane %d: %d, not %d", lane, got[lane], expected);
    if (lane < 16) cr_assert_eq(active[lane], 0xffff, "lane %d: 0x%x", lane, active[lane]);
  }
}

Test(warp, answers_while_others_poll, .timeout = 60) { cr_assert(active_mask_while_polling()); }

// ---- Order --------------------------------------------------------------------------------------

enum { ORDERED = 120 };

Test(order, follows_the_seed) {
  int in_order[ORDERED], first[ORDERED], second[ORDERED], next[ORDERED], other[ORDERED];
  record_order(in_order);
  for (int i = 0; i < ORDERED; i++) cr_assert_eq(in_order[i], i % 40, "element %d", i);
  emulator_set_seed(7);
  record_order(first);
  record_order(next);
  emulator_set_seed(7);
  record_order(second);
  emulator_set_seed(8);
  record_order(other);
  cr_assert_arr_eq(first, second, sizeof first);
  cr_assert_arr_neq(first, next, sizeof first, "the second launch runs in the first one's order");
  cr_assert_arr_neq(first, other, sizeof first);
  cr_assert_arr_neq(first, in_order, sizeof first);
  cr_assert_arr_neq(first, first + 40, 40 * sizeof *first, "all blocks run in the same order");
}

// Runs a launch in a child process and brings back the order.
static void order_in_child(const char *workers, int *order) {
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("EMU_WORKERS", workers, 1);
    emulator_set_seed(42);
    record_order(order);
    const ssize_t written = write(ends[1], order, ORDERED * sizeof *order);
    _exit(written == ORDERED * (ssize_t)sizeof *order ? 0 : 1);
  }
  int status;
  cr_assert_eq(read(ends[0], order, ORDERED * sizeof *order), ORDERED * (ssize_t)sizeof *order);
  waitpid(child, &status, 0);
  close(ends[0]);
  close(ends[1]);
  cr_assert_eq(status, 0);
}

Test(order, does_not_depend_on_workers) {
  int one[ORDERED], five[ORDERED], after_launch[ORDERED];
  order_in_child("1", one);
  order_in_child("5", five);
  cr_assert_arr_eq(one, five, sizeof one);
  // A child of a process that already has workers makes its own.
  record_order(after_launch);
  order_in_child("2", after_launch);
  cr_assert_arr_eq(one, after_launch, sizeof one);
}

Test(order, seed_from_environment) {
  int from_environment[ORDERED], set[ORDERED];
  setenv("EMU_SEED", "42", 1);
  record_order(from_environment);
  emulator_set_seed(42);
  record_order(set);
  cr_assert_arr_eq(from_environment, set, sizeof set);
}

// ---- The rest -----------------------------------------------------------------------------------

Test(memory, unwritten_is_nan) {
  setenv("EMU_WORKERS", "1", 1); // so that blocks follow each other in the same shared memory
  cr_assert_eq(readable_garbage(), 0);
}

Test(counts, are_sums_over_launches) {
  emulator_counts_reset();
  int order[ORDERED];
  record_order(order);
  cr_assert(healthy_launch());
  const emulator_counts counts = emulator_counts_read();
  cr_assert_eq(counts.launches, 2);
  cr_assert_eq(counts.blocks, 4);
  cr_assert_eq(counts.threads, 3 * 40 + 64);
  cr_assert_eq(counts.block_barriers, 3 * 3 + 1);
  cr_assert_eq(counts.warp_collectives, 2);
  emulator_counts_reset();
  cr_assert_eq(emulator_counts_read().launches, 0);
}

static volatile sig_atomic_t handled;
static void count_signal(int signal) {
  (void)signal;
  handled++;
}

Test(signals, outside_kernels_go_to_the_handler_before) {
  signal(SIGFPE, count_signal);
  cr_assert(healthy_launch());
  raise(SIGFPE);
  cr_assert_eq(handled, 1);
}

Test(signals, outside_kernels_end_the_process, .signal = SIGSEGV) {
  cr_assert(healthy_launch());
  raise(SIGSEGV);
  raise(SIGSEGV); // the first one has put back what was there before
}

Test(environment, workers, .exit_code = 2) {
  setenv("EMU_WORKERS", "many", 1);
  healthy_launch();
}

Test(environment, seed, .exit_code = 2) {
  setenv("EMU_SEED", "-1", 1);
  healthy_launch();
}

static void ask_with_escape_code(void) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("EMU_SEED", "\033[2J", 1);
    healthy_launch();
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

Test(environment, no_escape_codes) {
  char *said = stderr_of(ask_with_escape_code);
  cr_expect(strstr(said, "EMU_SEED is \"\\x1b[2J\", which"), "%s", said);
  free(said);
}

Test(environment, limit, .exit_code = 2) {
  setenv("LAB_LIMIT", "soon", 1);
  healthy_launch();
}

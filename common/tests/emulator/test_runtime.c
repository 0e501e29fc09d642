// Tests how the emulator runs a kernel without a fault: lanes that leave, the order of threads, memory that is not written
// yet, counts, signals, and the settings in the environment.
#define _GNU_SOURCE
#include "emulator.h"
#include "fault_report.h"
#include "numeric/poison.h"
#include "runtime.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

// It is not the first lane, so that no kernel relies on that.
Test(warp, elects_the_last_lane) { cr_assert_eq(elected_lanes(), 1u << 31); }

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

// Any block may be the last, and blocks go up and down.
Test(order, of_blocks_follows_the_seed) {
  enum { BLOCKS = 5 };
  setenv("EMU_WORKERS", "1", 1);
  int plain[BLOCKS];
  emulator_set_seed(3);
  record_order_of_blocks(plain);
  for (int i = 0; i < BLOCKS; i++) cr_assert_eq(plain[i], i, "a seed alone shuffles threads");
  emulator_shuffle_blocks();
  bool up = false, down = false, last[BLOCKS] = {false};
  for (uint64_t seed = 0; seed <= 40; seed++) {
    emulator_set_seed(seed);
    int order[BLOCKS];
    record_order_of_blocks(order);
    const int step = order[1] == (order[0] + 1) % BLOCKS ? 1 : BLOCKS - 1;
    for (int i = 1; i < BLOCKS; i++)
      cr_assert_eq(order[i], (order[i - 1] + step) % BLOCKS, "seed %d, place %d", (int)seed, i);
    if (seed == 0) cr_assert(order[0] == 0 && step == 1, "plain order");
    if (seed > 0) last[order[BLOCKS - 1]] = true;
    up = up || step == 1;
    down = down || step == BLOCKS - 1;
  }
  cr_expect(up && down);
  for (int block = 0; block < BLOCKS; block++)
    cr_expect(last[block], "block %d is never the last", block);
}

Test(order, of_blocks_from_environment) {
  setenv("EMU_WORKERS", "1", 1);
  setenv("EMU_SHUFFLE_BLOCKS", "1", 1);
  bool shuffled = false;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    emulator_set_seed(seed);
    int order[5];
    record_order_of_blocks(order);
    shuffled = shuffled || order[0] != 0;
  }
  cr_expect(shuffled);
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
  int one[ORDERED], five[ORDERED];
  order_in_child("1", one);
  order_in_child("5", five);
  cr_assert_arr_eq(one, five, sizeof one);
}

Test(order, seed_from_environment) {
  int from_environment[ORDERED], set[ORDERED];
  setenv("EMU_SEED", "42", 1);
  record_order(from_environment);
  emulator_set_seed(42);
  record_order(set);
  cr_assert_arr_eq(from_environment, set, sizeof set);
}

// ---- Processes ----------------------------------------------------------------------------------

static bool launch_in_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    const bool right = healthy_launch();
    _exit(right ? 0 : cudaDeviceSynchronize());
  }
  int status;
  waitpid(child, &status, 0);
  cr_expect(status == 0 || WEXITSTATUS(status) == cudaErrorInitializationError, "%d", status);
  return status == 0;
}

static bool child_was_right;
static void launch_in_child_and_note(void) { child_was_right = launch_in_child(); }

// As on a GPU, a child may use CUDA only if its parent has not done so before.
Test(fork, before_the_first_call) {
  cudaGetLastError(); // is not yet a use
  cr_expect(launch_in_child());
  cr_expect(healthy_launch(), "what the child has done does not concern its parent");
}

Test(fork, after_the_first_call) {
  int devices;
  cr_assert_eq(cudaGetDeviceCount(&devices), cudaSuccess);
  char *said = stderr_of(launch_in_child_and_note);
  cr_expect_not(child_was_right);
  const char *sentence =
      strstr(said, "========= CUDA cannot be used in this process: it is the child");
  cr_expect(sentence && !strstr(sentence + 1, "========="), "once: %s", said);
  free(said);
  cr_expect(healthy_launch());
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

#ifndef __SANITIZE_ADDRESS__ // which handles the signal itself
Test(signals, outside_kernels_end_the_process, .signal = SIGSEGV) {
  cr_assert(healthy_launch());
  raise(SIGSEGV);
  raise(SIGSEGV); // the first one has put back what was there before
}
#endif

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

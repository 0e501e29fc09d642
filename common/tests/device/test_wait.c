// Waits for a GPU that never finishes: the queries of this program replace the runtime's.
#define _GNU_SOURCE
#include "device/device.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned queries, ready_at; // which query finds the work done
static double ready_after;         // or the first one behind so many seconds, if that is not 0
static cudaError_t outcome;
static cudaError_t last_error; // as CUDA keeps it

static bool is_over(void) {
  static struct timespec begin;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (queries == 1) begin = now;
  const double seconds =
      (double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec);
  return ready_after > 0 && seconds > ready_after;
}

static cudaError_t answer(void) {
  const cudaError_t status = ++queries < ready_at && !is_over() ? cudaErrorNotReady : outcome;
  if (status != cudaSuccess) last_error = status;
  return status;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  (void)stream;
  return answer();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  (void)event;
  return answer();
}

// The result of waiting for work that is done at the given query.
static cudaError_t wait_for(unsigned query, cudaError_t status, bool event) {
  queries = 0;
  ready_at = query;
  outcome = status;
  return event ? device_wait_event(NULL) : device_wait(NULL);
}

Test(wait, until_the_work_is_done) {
  for (int event = 0; event < 2; event++) {
    cr_expect_eq(wait_for(1, cudaSuccess, event), cudaSuccess);
    cr_expect_eq(queries, 1);
    cr_expect_eq(wait_for(1000, cudaErrorIllegalAddress, event), cudaErrorIllegalAddress);
    cr_expect_eq(queries, 1000);
    cr_expect_eq(cudaGetLastError(), cudaErrorIllegalAddress);
  }
}

// To ask too early is no error that the caller has to find.
Test(wait, leaves_no_error) {
  for (int event = 0; event < 2; event++) {
    cr_expect_eq(wait_for(1000, cudaSuccess, event), cudaSuccess);
    cr_expect_eq(cudaPeekAtLastError(), cudaSuccess);
  }
}

// Runs the endless wait in a process of its own; gives its exit status and its output.
static int give_up_after(const char *limit, bool event, char *said, size_t size) {
  int ends[2], status = 0;
  cr_assert_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("LAB_LIMIT", limit, 1);
    wait_for(-1u, cudaSuccess, event);
    _exit(0);
  }
  close(ends[1]);
  ssize_t length = 0, got;
  while ((got = read(ends[0], said + length, size - 1 - (size_t)length)) > 0) length += got;
  said[length] = '\0';
  cr_assert_eq(waitpid(child, &status, 0), child);
  close(ends[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(wait, not_for_ever, .timeout = 30) {
  char said[2048];
  for (int event = 0; event < 2; event++) {
    cr_expect_eq(give_up_after("0.25", event, said, sizeof said), EXIT_CHECK_FAILED);
    cr_expect_eq(strncmp(said, "error: the launch timed out: the GPU has worked for 0.25 s", 58), 0,
                 "%s", said);
    cr_expect(strstr(said, "LAB_LIMIT=2.5 waits longer"), "%s", said);
  }
}

// So long that the queries have a pause between them, and the limit is looked at.
Test(wait, without_a_limit) {
  char said[2048];
  ready_after = 0.05;
  cr_expect_eq(give_up_after("0", false, said, sizeof said), 0, "%s", said);
  cr_expect_str_empty(said);
}

Test(wait, bad_limit) {
  char said[2048];
  cr_expect_eq(give_up_after("soon", false, said, sizeof said), EXIT_BAD_INPUT);
  cr_expect_str_eq(said, "error: LAB_LIMIT is \"soon\": give a number, such as 0.125\n", "%s",
                   said);
  cr_expect_eq(give_up_after("-1", false, said, sizeof said), EXIT_BAD_INPUT);
  cr_expect_str_eq(said, "error: LAB_LIMIT is -1: give 0 or more seconds\n", "%s", said);
}

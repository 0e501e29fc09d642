// Why a host thread stops waiting for its rank's stream: the work is done, or has failed, or will not be done.
#define _GNU_SOURCE
#include "suite.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The two calls give these values while `made_up` is true. The stream has the last state from `done_at` on.
static bool made_up;
static double done_at;
static cudaError_t last_state;
static ncclResult_t of_nccl;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (made_up) return seconds() < done_at ? cudaErrorNotReady : last_state;
  cudaError_t (*real)(cudaStream_t);
  void *const found = dlsym(RTLD_NEXT, "cudaStreamQuery");
  memcpy(&real, &found, sizeof real);
  return real(stream);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result) {
  if (made_up) return *result = of_nccl, ncclSuccess;
  ncclResult_t (*real)(ncclComm_t, ncclResult_t *);
  void *const found = dlsym(RTLD_NEXT, "ncclCommGetAsyncError");
  memcpy(&real, &found, sizeof real);
  return real(comm, result);
}

static gpu_group group;

// The work takes so many seconds. Expects that the wait ends well, where `words` is NULL, or with a sentence that begins so.
static void expect(double after, cudaError_t state, ncclResult_t nccl, const char *words) {
  error_text error = {""};
  done_at = seconds() + after;
  last_state = state;
  of_nccl = nccl;
  made_up = true;
  const bool good = group_wait(&group, &group.members[0], &error);
  made_up = false;
  cr_expect_eq(good, !words, "%s", error.text);
  if (words) cr_expect(strstr(error.text, words) == error.text, "%s", error.text);
}

Test(wait, ends_with_the_work) {
  setenv("LAB_LIMIT", "0", 1); // which means never, and not at once
  expect(0, cudaSuccess, ncclSuccess, NULL);
  expect(0.02, cudaSuccess, ncclSuccess, NULL);
  expect(0.02, cudaSuccess, ncclInProgress, NULL);
  expect(0.02, cudaErrorInvalidValue, ncclSuccess, "running the step failed: invalid argument");
}

Test(wait, ends_with_an_exchange_that_fails) {
  setenv("LAB_LIMIT", "0", 1);
  expect(60, cudaSuccess, ncclInternalError, "the exchange between the GPUs failed: ");
}

Test(wait, ends_where_another_rank_has_failed) {
  setenv("LAB_LIMIT", "0", 1);
  group.failed = true;
  expect(60, cudaSuccess, ncclSuccess, "another rank has failed");
}

Test(wait, ends_at_the_limit) {
  setenv("LAB_LIMIT", "0.03", 1);
  group.members[0].group.rank = 3;
  expect(60, cudaSuccess, ncclSuccess, "rank 3 has waited for 0.03 s and its work has not ended");
}

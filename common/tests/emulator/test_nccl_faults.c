// Tests what the stand-in for NCCL says of calls that do not match and of ranks that wait in vain. Nothing hangs.
#define _GNU_SOURCE
#include "ranks.h"

#include <string.h>
#include <unistd.h>

#include "fault_report.h"

bool healthy_launch(void) { return true; }

static rank_work current_work;

static void run_current(void) { run_ranks(current_work, false); }

// Runs the ranks, and looks for these texts in their report, in this order.
static void expect_of_ranks(rank_work work, const char *const *says, size_t count) {
  current_work = work;
  char *report = stderr_of(run_current);
  const char *rest = report;
  for (size_t i = 0; i < count; i++) {
    const char *found = strstr(rest, says[i]);
    cr_assert_not_null(found, "the report lacks \"%s\":\n%s", says[i], report);
    rest = found + strlen(says[i]);
  }
  free(report);
}

#define EXPECT_OF_RANKS(work, ...)                                                                 \
  do {                                                                                             \
    static const char *const says_[] = {__VA_ARGS__};                                              \
    expect_of_ranks(work, says_, sizeof says_ / sizeof says_[0]);                                  \
  } while (0)

// The communicator has failed: the call has said so, or the wait for it ends with an error.
static void expect_failed(ncclComm_t comm, cudaStream_t stream, ncclResult_t called,
                          ncclResult_t expected) {
  ncclResult_t error;
  const cudaError_t waited = cudaStreamSynchronize(stream);
  cr_assert(called == expected || (called == ncclSuccess && waited == cudaErrorLaunchFailure));
  NCCL(ncclCommGetAsyncError(comm, &error));
  cr_assert_eq(error, expected, "%s", ncclGetErrorString(error));
  NCCL(ncclCommAbort(comm));
}

// ---- Deadlocks ----------------------------------------------------------------------------------

// Each waits until its send is over, before it receives.
static void send_first(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *other = on_device(rank, N, 0);
  NCCL(ncclSend(mine, N, ncclFloat, (rank + 1) % RANKS, comm, stream));
  NCCL(ncclRecv(other, N, ncclFloat, (rank + 2) % RANKS, comm, stream));
  expect_failed(comm, stream, ncclSuccess, ncclRemoteError);
}

Test(nccl_faults, deadlock_of_sends, .init = three_gpus) {
  EXPECT_OF_RANKS(send_first, "Deadlock: no rank can go on",
                  "rank 0 waits in ncclSend of 1000 ncclFloat32 to rank 1 at ",
                  "test_nccl_faults.c:", "rank 1 waits in ncclSend of 1000 ncclFloat32 to rank 2",
                  "rank 2 waits in ncclSend of 1000 ncclFloat32 to rank 0", "hint: ");
}

static void ends_early(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  if (rank == 1) return;
  NCCL(ncclAllGather(mine, all, N, ncclFloat, comm, stream));
  expect_failed(comm, stream, ncclSuccess, ncclRemoteError);
}

Test(nccl_faults, host_thread_that_ends, .init = three_gpus) {
  setenv("EMU_NCCL_LIMIT", "1", 1);
  EXPECT_OF_RANKS(ends_early, "Deadlock", "rank 0 waits in ncclAllGather of 1000 ncclFloat32 at ",
                  "rank 1 has made no call, and its host thread has ended",
                  "rank 2 waits in ncclAllGather");
}

// The receive is forgotten; one host thread has all ranks.
static void send_alone(void) {
  ncclComm_t comms[RANKS];
  NCCL(ncclCommInitAll(comms, RANKS, NULL));
  float *memory = on_device(0, N, 0);
  NCCL(ncclSend(memory, N, ncclFloat, 1, comms[0], NULL));
  expect_failed(comms[0], NULL, ncclSuccess, ncclRemoteError);
}

Test(nccl_faults, send_without_receive, .init = three_gpus) {
  char *report = stderr_of(send_alone);
  cr_assert_not_null(strstr(report, "rank 0 waits in ncclSend of 1000 ncclFloat32 to rank 1"));
  cr_assert_not_null(strstr(report, "rank 1 has made no call\n"), "%s", report);
  free(report);
}

// The kernel of a rank faults; the others learn of it.
static void fault_of_one(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  if (rank == 1) {
    float *far = on_device(0, N, 0);
    OK(cudaSetDevice(1));
    devices_add(far, mine, 1, N, stream);
  }
  const ncclResult_t called = ncclAllGather(mine, all, N, ncclFloat, comm, stream);
  if (rank == 1)
    cr_assert_eq(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  else
    expect_failed(comm, stream, called, ncclRemoteError);
}

Test(nccl_faults, fault_of_a_kernel, .init = three_gpus) {
  EXPECT_OF_RANKS(fault_of_one, "of device 0, without peer access from device 1", "// <- add",
                  "The device of rank 1 has failed");
}

// Two communicators in different orders on one stream each.
static void cross_communicators(void) {
  ncclComm_t first[2], second[2];
  float *memory[2];
  NCCL(ncclCommInitAll(first, 2, NULL));
  NCCL(ncclCommInitAll(second, 2, NULL));
  for (int rank = 0; rank < 2; rank++) {
    ncclComm_t *order[2] = {rank == 0 ? first : second, rank == 0 ? second : first};
    memory[rank] = on_device(rank, N, 0);
    for (int i = 0; i < 2; i++) {
      NCCL(ncclAllReduce(memory[rank], memory[rank], N, ncclFloat, ncclSum, order[i][rank], NULL));
    }
  }
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

Test(nccl_faults, communicators_in_different_orders, .init = three_gpus) {
  char *report = stderr_of(cross_communicators);
  cr_assert_not_null(strstr(report, "Deadlock: no rank can go on"), "%s", report);
  cr_assert_not_null(strstr(report, "rank 1 waits in ncclAllReduce"), "%s", report);
  free(report);
}

// ---- Calls that do not match --------------------------------------------------------------------

static void gather_or_reduce(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  const ncclResult_t called = rank == 1
                                  ? ncclAllReduce(mine, mine, N, ncclFloat, ncclSum, comm, stream)
                                  : ncclAllGather(mine, all, N, ncclFloat, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}

Test(nccl_faults, different_orders, .init = three_gpus) {
  EXPECT_OF_RANKS(gather_or_reduce, "The ranks' calls do not match: rank ", " calls ncclAll",
                  "of 1000 ncclFloat32 at ", "test_nccl_faults.c:", "; rank ", " calls ncclAll");
}

static void other_count(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  const ncclResult_t called = ncclAllGather(mine, all, rank == 2 ? 7 : N, ncclFloat, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}

Test(nccl_faults, different_counts, .init = three_gpus) {
  EXPECT_OF_RANKS(other_count, "The ranks' calls do not match: rank ", "ncclAllGather of ");
}

static void other_type(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *memory = on_device(rank, N, 0);
  if (rank == 2) return;
  const ncclResult_t called = rank == 0 ? ncclSend(memory, N, ncclHalf, 1, comm, stream)
                                        : ncclRecv(memory, N, ncclFloat, 0, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}

Test(nccl_faults, different_types, .init = three_gpus) {
  EXPECT_OF_RANKS(other_type, "The ranks' calls do not match: rank ", "ncclFloat");
}

// The calls agree but for the reduction, or the root.
static void other_reduction(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0);
  const ncclRedOp_t reduction = rank == 1 ? ncclMax : ncclSum;
  const ncclResult_t called = ncclAllReduce(mine, mine, N, ncclFloat, reduction, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}
static void other_scatter(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *all = on_device(rank, N * RANKS, 0), *mine = on_device(rank, N, 0);
  const ncclRedOp_t reduction = rank == 1 ? ncclMax : ncclSum;
  const ncclResult_t called = ncclReduceScatter(all, mine, N, ncclFloat, reduction, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}
static void other_root(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0);
  const ncclResult_t called = ncclBroadcast(mine, mine, N, ncclFloat, rank / 2, comm, stream);
  expect_failed(comm, stream, called, ncclInvalidUsage);
}

Test(nccl_faults, different_reductions, .init = three_gpus) {
  EXPECT_OF_RANKS(other_reduction, "The ranks' calls do not match: rank ", "ncclAllReduce of ");
}
Test(nccl_faults, different_reductions_of_parts, .init = three_gpus) {
  EXPECT_OF_RANKS(other_scatter, "The ranks' calls do not match: rank ", "ncclReduceScatter of ");
}
Test(nccl_faults, different_roots, .init = three_gpus) {
  EXPECT_OF_RANKS(other_root, "The ranks' calls do not match: rank ", "ncclBroadcast of ");
}

static void wrong_buffers(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *far = on_device((rank + 1) % RANKS, N, 0), host[1];
  cr_assert_eq(ncclAllGather(mine, mine, N, ncclFloat, comm, stream), ncclInvalidArgument);
  cr_assert_eq(ncclBroadcast(mine, far, N, ncclFloat, 0, comm, stream), ncclInvalidArgument);
  cr_assert_eq(ncclBroadcast(mine, host, 1, ncclFloat, 0, comm, stream), ncclInvalidArgument);
  cr_assert_eq(ncclSend(mine, N, ncclFloat, RANKS, comm, stream), ncclInvalidArgument);
  cr_assert_eq(ncclSend(mine, N, ncclFloat, 0, comm, stream_on((rank + 1) % RANKS)),
               ncclUnhandledCudaError);
}

Test(nccl_faults, buffers_that_cannot_be, .init = three_gpus) {
  EXPECT_OF_RANKS(wrong_buffers, "calls ncclAllGather of 1000 ncclFloat32 at ",
                  "the receive buffer has 4000 bytes, and the call needs 12000",
                  "the receive buffer is memory of device ", "is not memory of a device");
}

// ---- Ranks that give up -------------------------------------------------------------------------

// The others ask, as a driver does that has a time limit of its own.
static void abort_one(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  if (rank == 1) {
    NCCL(ncclCommAbort(comm));
    return;
  }
  ncclResult_t error = ncclSuccess;
  const ncclResult_t called = ncclAllGather(mine, all, N, ncclFloat, comm, stream);
  cr_assert(called == ncclSuccess || called == ncclRemoteError);
  while (called == ncclSuccess && error == ncclSuccess) {
    cr_assert_eq(cudaStreamQuery(stream), cudaErrorNotReady);
    NCCL(ncclCommGetAsyncError(comm, &error));
    usleep(1000);
  }
  cr_assert_str_eq(ncclGetLastError(comm), "Rank 1 has called ncclCommAbort");
  NCCL(ncclCommAbort(comm));
  OK(cudaStreamSynchronize(stream)); // nothing is left to wait for
}

Test(nccl_faults, abort, .init = three_gpus, .timeout = 20) { expect_of_ranks(abort_one, NULL, 0); }

// A rank that is busy with something else for too long.
static void sleeps(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = on_device(rank, N, 0), *all = on_device(rank, N * RANKS, 0);
  if (rank == 1) usleep(1000000);
  const ncclResult_t called = ncclAllGather(mine, all, N, ncclFloat, comm, stream);
  cr_assert(rank != 1 || called == ncclRemoteError);
  expect_failed(comm, stream, called, ncclRemoteError);
}

Test(nccl_faults, time_limit, .init = three_gpus, .timeout = 20) {
  setenv("EMU_NCCL_LIMIT", "0.2", 1);
  EXPECT_OF_RANKS(sleeps, "Timeout: ranks have waited for 0.2 seconds for a call of another rank",
                  "rank 1 has made no call");
}

// ---- Communicators ------------------------------------------------------------------------------

static void refused_communicators(void) {
  ncclComm_t comm;
  ncclUniqueId id;
  const int twice[2] = {0, 0};
  ncclComm_t comms[2];
  cr_assert_eq(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
  NCCL(ncclGetUniqueId(&id));
  cr_assert_eq(ncclCommInitRank(&comm, 4, id, 0), ncclInvalidUsage);
  cr_assert_eq(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  cr_assert_eq(ncclCommInitRank(&comm, 2, id, 0), ncclRemoteError); // the other does not come
  memset(&id, 0, sizeof id);
  cr_assert_eq(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidArgument);
}

Test(nccl_faults, refused_communicators, .init = three_gpus, .timeout = 20) {
  setenv("EMU_NCCL_LIMIT", "0.1", 1);
  char *report = stderr_of(refused_communicators);
  cr_assert_not_null(strstr(report, "rank 0 and rank 1 are both on device 0"), "%s", report);
  cr_assert_not_null(strstr(report, "there are 4 ranks and only 3 devices"), "%s", report);
  free(report);
}

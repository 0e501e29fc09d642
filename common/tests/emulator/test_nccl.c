// Tests the stand-in for NCCL.
#define _GNU_SOURCE
#include "emulator.h"
#include "numeric/float16.h"
#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <nccl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fault_report.h"

enum { N = 1000, RANKS = 3 };

#define OK(call) cr_assert_eq(call, cudaSuccess)
#define NCCL(call)                                                                                 \
  do {                                                                                             \
    const ncclResult_t result = call;                                                              \
    cr_assert_eq(result, ncclSuccess, "%s: %s", #call, ncclGetErrorString(result));                \
  } while (0)

static void three_gpus(void) { setenv("EMU_GPUS", "3", 1); }

typedef struct {
  int rank;
  ncclUniqueId id;
  void (*work)(int rank, ncclComm_t comm, cudaStream_t stream);
} rank_argument;

static void *rank_main(void *argument) {
  const rank_argument *it = argument;
  ncclComm_t comm;
  cudaStream_t stream;
  OK(cudaSetDevice(it->rank));
  OK(cudaStreamCreate(&stream));
  NCCL(ncclCommInitRank(&comm, RANKS, it->id, it->rank));
  it->work(it->rank, comm, stream);
  return NULL;
}

// A host thread for each rank.
static void run_ranks(void (*work)(int, ncclComm_t, cudaStream_t)) {
  rank_argument arguments[RANKS];
  pthread_t threads[RANKS];
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  for (int rank = 0; rank < RANKS; rank++) {
    arguments[rank] = (rank_argument){rank, id, work};
    pthread_create(&threads[rank], NULL, rank_main, &arguments[rank]);
  }
  for (int rank = 0; rank < RANKS; rank++) pthread_join(threads[rank], NULL);
}

static float *floats(size_t count, float value) {
  float *host = malloc(count * sizeof *host), *memory;
  for (size_t i = 0; i < count; i++) host[i] = value;
  OK(cudaMalloc((void **)&memory, count * sizeof *memory));
  OK(cudaMemcpy(memory, host, count * sizeof *host, cudaMemcpyHostToDevice));
  free(host);
  return memory;
}

static void expect(const float *memory, size_t first, size_t count, float value) {
  float *host = malloc(count * sizeof *host);
  OK(cudaMemcpy(host, memory + first, count * sizeof *host, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(host[i], value, "[%zu] is %g, not %g", first + i, host[i], value);
  }
  free(host);
}

static void gather(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = floats(N, (float)rank), *all = floats(N * RANKS, -1);
  NCCL(ncclAllGather(mine, all, N, ncclFloat, comm, stream));
  OK(cudaStreamSynchronize(stream));
  for (int from = 0; from < RANKS; from++) expect(all, (size_t)from * N, N, (float)from);
  NCCL(ncclCommDestroy(comm));
}

Test(nccl, gathers, .init = three_gpus) {
  run_ranks(gather);
  for (int from = 0; from < RANKS; from++) {
    cr_assert_eq(emulator_link_bytes(from, (from + 1) % RANKS), 2 * N * sizeof(float));
    cr_assert_eq(emulator_link_bytes(from, (from + 2) % RANKS), 0);
  }
}

static void ring(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = floats(N, (float)rank), *other = floats(N, -1);
  const int next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
  NCCL(ncclGroupStart());
  NCCL(ncclSend(mine, N, ncclFloat, next, comm, stream));
  NCCL(ncclRecv(other, N, ncclFloat, before, comm, stream));
  NCCL(ncclGroupEnd());
  OK(cudaStreamSynchronize(stream));
  expect(other, 0, N, (float)before);
  NCCL(ncclCommDestroy(comm));
}

Test(nccl, sends_in_a_ring, .init = three_gpus) { run_ranks(ring); }

Test(nccl, reduces_with_one_host_thread, .init = three_gpus) {
  ncclComm_t comms[RANKS];
  float *memory[RANKS];
  NCCL(ncclCommInitAll(comms, RANKS, NULL));
  for (int rank = 0; rank < RANKS; rank++) {
    OK(cudaSetDevice(rank));
    memory[rank] = floats(N, (float)(rank + 1));
  }
  NCCL(ncclGroupStart());
  for (int rank = 0; rank < RANKS; rank++) {
    NCCL(ncclAllReduce(memory[rank], memory[rank], N, ncclFloat, ncclSum, comms[rank], NULL));
  }
  NCCL(ncclGroupEnd());
  for (int rank = 0; rank < RANKS; rank++) {
    OK(cudaSetDevice(rank));
    OK(cudaDeviceSynchronize());
    expect(memory[rank], 0, N, 6);
    NCCL(ncclCommDestroy(comms[rank]));
  }
}

static void alone(int rank, ncclComm_t comm, cudaStream_t stream) {
  float *mine = floats(N, 0), *all = floats(N * RANKS, -1);
  if (rank == 1) return;
  ncclResult_t error;
  NCCL(ncclAllGather(mine, all, N, ncclFloat, comm, stream));
  cr_assert_eq(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  NCCL(ncclCommGetAsyncError(comm, &error));
  cr_assert_eq(error, ncclRemoteError);
  NCCL(ncclCommAbort(comm));
}

Test(nccl, reports_a_rank_that_ends, .init = three_gpus) { run_ranks(alone); }

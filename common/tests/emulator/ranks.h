// For the tests of the stand-in for NCCL: a host thread for each rank.
#ifndef TEST_RANKS_H
#define TEST_RANKS_H

#include "numeric/poison.h"

#include <criterion/criterion.h>
#include <nccl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "devices.h"

enum { RANKS = 3 };

static inline void three_gpus(void) {
  setenv("EMU_GPUS", "3", 1);
  setenv("EMU_SEED", "0", 1); // transfers are as late as they can be
}

#define NCCL(call)                                                                                 \
  do {                                                                                             \
    const ncclResult_t result_ = call;                                                             \
    cr_assert_eq(result_, ncclSuccess, "%s: %s", #call, ncclGetErrorString(result_));              \
  } while (0)

typedef void (*rank_work)(int rank, ncclComm_t comm, cudaStream_t stream);

typedef struct {
  int rank;
  ncclUniqueId id;
  rank_work work;
  bool destroy;
} rank_argument;

// The host threads wait here for each other. A thread that waits for its device has transfers delivered, those of other
// ranks too; so what a transfer must come after is queued by all ranks before one of them waits.
static pthread_barrier_t ranks_meet;

static inline void meet_ranks(void) { pthread_barrier_wait(&ranks_meet); }

static void *rank_main(void *argument) {
  const rank_argument *it = argument;
  ncclComm_t comm;
  const cudaStream_t stream = stream_on(it->rank);
  NCCL(ncclCommInitRank(&comm, RANKS, it->id, it->rank));
  it->work(it->rank, comm, stream);
  if (it->destroy) NCCL(ncclCommDestroy(comm));
  return NULL;
}

// `destroy`: the communicators are destroyed behind the work; else the work does as it likes.
static inline void run_ranks(rank_work work, bool destroy) {
  rank_argument arguments[RANKS];
  pthread_t threads[RANKS];
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  pthread_barrier_init(&ranks_meet, NULL, RANKS);
  for (int rank = 0; rank < RANKS; rank++) {
    arguments[rank] = (rank_argument){rank, id, work, destroy};
    pthread_create(&threads[rank], NULL, rank_main, &arguments[rank]);
  }
  for (int rank = 0; rank < RANKS; rank++) pthread_join(threads[rank], NULL);
  pthread_barrier_destroy(&ranks_meet);
}

#endif

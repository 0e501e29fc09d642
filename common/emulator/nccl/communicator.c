// Communicators: how ranks find each other, and how they leave.
#define _GNU_SOURCE
#include "clique.h"

#include "errors.h"
#include "runtime/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clique *cliques;
static uint64_t ids;

// ---- Ids ----------------------------------------------------------------------------------------

// An id holds the process and a number in it.
typedef struct {
  char mark[8];
  int64_t process;
  uint64_t number;
} id_text;
static const char MARK[8] = {'e', 'm', 'u', '-', 'n', 'c', 'c', 'l'}; // without a 0 at the end

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  if (id == NULL) return ncclInvalidArgument;
  id_text text = {.process = getpid()};
  memcpy(text.mark, MARK, sizeof MARK);
  queue_lock();
  text.number = ++ids;
  queue_unlock();
  memset(id, 0, sizeof *id);
  memcpy(id->internal, &text, sizeof text);
  return ncclSuccess;
}

static ncclResult_t check_id(const ncclUniqueId *id) {
  id_text text;
  memcpy(&text, id->internal, sizeof text);
  if (memcmp(text.mark, MARK, sizeof MARK) != 0) {
    fprintf(stderr, "error: ncclCommInitRank: the id was not made by ncclGetUniqueId\n");
    return ncclInvalidArgument;
  }
  if (text.process == getpid()) return ncclSuccess;
  fprintf(stderr, "error: ncclCommInitRank: the id comes from another process; on the emulator the "
                  "ranks are host threads of one process\n");
  return ncclInvalidUsage;
}

// ---- Joining ------------------------------------------------------------------------------------

static clique *find_or_make(const ncclUniqueId *id, int ranks) {
  clique *found = cliques;
  while (found != NULL && memcmp(&found->id, id, sizeof *id) != 0) found = found->next;
  if (found != NULL) return found;
  found = calloc(1, sizeof *found);
  if (found == NULL) return NULL;
  found->id = *id;
  found->ranks = ranks;
  found->next = cliques;
  cliques = found;
  return found;
}

static ncclResult_t refuse(const char *sentence) {
  fprintf(stderr, "error: ncclCommInitRank: %s\n", sentence);
  return ncclInvalidUsage;
}

static ncclResult_t join(ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank,
                         int device) {
  char text[200];
  clique *clique = find_or_make(id, ranks);
  if (clique == NULL) return ncclSystemError;
  if (clique->ranks != ranks) {
    snprintf(text, sizeof text, "rank %d says that the number of ranks is %d, and others say %d",
             rank, ranks, clique->ranks);
    clique_fail(clique, ncclInvalidUsage, "ncclCommInitRank: %s", text);
    return ncclInvalidUsage;
  }
  if (clique->comms[rank] != NULL) {
    snprintf(text, sizeof text, "rank %d has joined already", rank);
    return refuse(text);
  }
  for (int other = 0; other < ranks; other++) {
    if (clique->comms[other] == NULL || clique->comms[other]->device != device) continue;
    snprintf(text, sizeof text,
             "rank %d and rank %d are both on device %d: each host thread must call "
             "cudaSetDevice before it joins",
             other, rank, device);
    clique_fail(clique, ncclInvalidUsage, "ncclCommInitRank: %s", text);
    return ncclInvalidUsage;
  }
  ncclComm_t made = calloc(1, sizeof *made);
  if (made == NULL) return ncclSystemError;
  *made =
      (struct ncclComm){.clique = clique, .rank = rank, .device = device, .owner = queue_thread()};
  clique->comms[rank] = made;
  clique->joined++;
  *comm = made;
  queue_changed();
  return ncclSuccess;
}

ncclResult_t communicator_wait(clique *clique) {
  while (clique->joined < clique->ranks && clique->error == ncclSuccess) {
    const double limit = clique_limit_seconds();
    if (limit == 0 || queue_quiet_seconds() < limit) {
      queue_pause();
      continue;
    }
    char missing[100] = "";
    for (int rank = 0; rank < clique->ranks; rank++) {
      if (clique->comms[rank] != NULL) continue;
      const size_t length = strlen(missing);
      snprintf(missing + length, sizeof missing - length, " %d", rank);
    }
    clique_fail(clique, ncclRemoteError,
                "ncclCommInitRank: %d of %d ranks have joined within %g seconds; missing:%s",
                clique->joined, clique->ranks, limit, missing);
  }
  return clique->joined == clique->ranks ? ncclSuccess : clique->error;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
  if (comm == NULL || ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  if (ranks > devices_count()) {
    fprintf(stderr,
            "error: ncclCommInitRank: there are %d ranks and only %d device%s; each rank needs one "
            "(EMU_GPUS=%d)\n",
            ranks, devices_count(), plural((uint64_t)devices_count()), ranks);
    return ncclInvalidUsage;
  }
  ncclResult_t result = check_id(&id);
  if (result != ncclSuccess) return result;
  queue_lock();
  result = join(comm, ranks, &id, rank, devices_current());
  if (result == ncclSuccess) {
    result = group_open() ? group_add_rank(*comm) : communicator_wait((*comm)->clique);
  }
  queue_unlock();
  return result;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices) {
  if (comms == NULL || count < 1) return ncclInvalidArgument;
  const int before = devices_current();
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);
  if (result == ncclSuccess) result = ncclGroupStart();
  for (int rank = 0; rank < count && result == ncclSuccess; rank++) {
    if (cudaSetDevice(devices != NULL ? devices[rank] : rank) != cudaSuccess) {
      result = ncclUnhandledCudaError;
    } else {
      result = ncclCommInitRank(&comms[rank], count, id, rank);
    }
  }
  const ncclResult_t end = ncclGroupEnd();
  cudaSetDevice(before);
  return result != ncclSuccess ? result : end;
}

// ---- Leaving ------------------------------------------------------------------------------------

void clique_release(clique *clique) {
  if (clique->operations > 0) return;
  for (int rank = 0; rank < clique->ranks; rank++) {
    if (clique->comms[rank] == NULL || !clique->comms[rank]->gone) return;
  }
  struct clique **link = &cliques;
  while (*link != clique) link = &(*link)->next;
  *link = clique->next;
  while (clique->matches != NULL) match_free(clique, clique->matches);
  for (int rank = 0; rank < clique->ranks; rank++) free(clique->comms[rank]);
  free(clique);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (comm == NULL) return ncclInvalidArgument;
  queue_lock();
  comm->owner = queue_thread();
  const moment last = comm->last;
  const bool wait = last.stream != NULL && comm->clique->error == ncclSuccess;
  comm->finalized = true;
  queue_unlock();
  if (wait && queue_wait(last) != cudaSuccess) return ncclUnhandledCudaError;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const ncclResult_t result = ncclCommFinalize(comm);
  if (comm == NULL) return result;
  queue_lock();
  comm->aborted = comm->clique->error != ncclSuccess; // what is still queued will not come
  comm->gone = true;
  queue_changed();
  clique_release(comm->clique);
  queue_unlock();
  return result;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == NULL) return ncclInvalidArgument;
  queue_lock();
  if (!comm->finalized) {
    clique_fail(comm->clique, ncclRemoteError, "Rank %d has called ncclCommAbort", comm->rank);
  }
  comm->aborted = comm->gone = true;
  queue_changed();
  clique_release(comm->clique);
  queue_unlock();
  return ncclSuccess;
}

// ---- Questions ----------------------------------------------------------------------------------

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  if (comm == NULL || error == NULL) return ncclInvalidArgument;
  queue_lock();
  *error = comm->clique->error;
  if (*error == ncclSuccess && errors_sticky_of(comm->device) != cudaSuccess) {
    *error = ncclUnhandledCudaError;
  }
  queue_unlock();
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
  if (comm == NULL || count == NULL) return ncclInvalidArgument;
  *count = comm->clique->ranks;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) {
  if (comm == NULL || device == NULL) return ncclInvalidArgument;
  *device = comm->device;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
  if (comm == NULL || rank == NULL) return ncclInvalidArgument;
  *rank = comm->rank;
  return ncclSuccess;
}

ncclResult_t ncclGetVersion(int *version) {
  if (version == NULL) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess: return "no error";
  case ncclUnhandledCudaError: return "unhandled cuda error";
  case ncclSystemError: return "unhandled system error";
  case ncclInternalError: return "internal error";
  case ncclInvalidArgument: return "invalid argument";
  case ncclInvalidUsage: return "invalid usage";
  case ncclRemoteError: return "remote process exited or there was a network error";
  case ncclInProgress: return "NCCL operation in progress";
  default: return "unknown result code";
  }
}

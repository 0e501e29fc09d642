#define _GNU_SOURCE
#include "group/group.h"

#include "device/device.h"
#include "group/parts.h"
#include "shape/shape.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// CUDA loads a kernel at its first launch, and waits there until the GPU is idle (CUDA Programming Guide, "Lazy Loading").
// But a kernel of an exchange is not done before another rank takes part, whose host thread may wait for a load of its
// own. So the kernels are loaded at the start, whatever the user has set. For the same reason NCCL, which otherwise
// allocates memory when a kind of exchange is called first, makes its connections when the group is opened. CUDA and NCCL
// read these variables at their first calls.
__attribute__((constructor)) static void prepare_at_the_start(void) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("NCCL_RUNTIME_CONNECT", "0", 1);
}

bool group_nccl_ok(ncclResult_t result, ncclComm_t comm, const char *what, error_text *error) {
  if (result == ncclSuccess) return true;
  return fail(error, "%s failed: NCCL reports \"%s\" (%s)", what, ncclGetErrorString(result),
              ncclGetLastError(comm));
}

bool group_fits(const attention_shape *shape, int ranks, int gpus, error_text *error) {
  const int rows = shape->seq_q < shape->seq_kv ? shape->seq_q : shape->seq_kv;
  if (ranks > GROUP_MOST_RANKS)
    return fail(error, "--gpus is %d: give at most %d", ranks, GROUP_MOST_RANKS);
  if (ranks > rows)
    return fail(error, "%d GPUs cannot take %d row%s of the %s: give at most one GPU for each row",
                ranks, rows, rows == 1 ? "" : "s", rows == shape->seq_q ? "queries" : "keys");
  if (ranks <= gpus) return true;
  const char *are = gpus == 1 ? "is" : "are";
  if (ranks > GROUP_MOST_EMULATED)
    return fail(error, "--gpus is %d, and there %s %d: give at most as many", ranks, are, gpus);
  return fail(error,
              "--gpus is %d, and there %s %d: give at most as many, or with DEVICE=cpu let the "
              "emulator imitate them, EMU_GPUS=%d",
              ranks, are, gpus, ranks);
}

void group_imitate(int gpus, bool overwrite) {
  char number[16];
  snprintf(number, sizeof number, "%d", gpus < GROUP_MOST_EMULATED ? gpus : GROUP_MOST_EMULATED);
  setenv("EMU_GPUS", number, overwrite);
}

bool group_supported(const attention_step *step, const attention_shape *shape, int ranks,
                     error_text *error) {
  const char *reason = step->group_unsupported ? step->group_unsupported(shape, ranks) : NULL;
  return !reason || fail(error, "%s cannot take %s on %d GPUs: %s", step->name,
                         shape_describe(shape).text, ranks, reason);
}

// Lets a GPU reach the memory of another. Where that is not possible all still works, through the host's memory, and a note
// tells the reader.
static bool reach_peer(int from, int to) {
  int can = 0;
  cudaSetDevice(from);
  cudaError_t status = cudaDeviceCanAccessPeer(&can, from, to);
  if (status == cudaSuccess && can) status = cudaDeviceEnablePeerAccess(to, 0);
  cudaGetLastError(); // it may have been allowed before
  if (can && (status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled)) return true;
  fprintf(stderr,
          "note: GPU %d cannot reach the memory of GPU %d: their data goes through the memory of "
          "the host, which is slower\n",
          from, to);
  return false;
}

static bool reach_peers(int ranks) {
  for (int from = 0; from < ranks; from++)
    for (int to = 0; to < ranks; to++)
      if (from != to && !reach_peer(from, to)) return false;
  return true;
}

// All ranks of a process are made by one thread, in one group of calls, because each call waits for all ranks.
static bool connect_ranks(gpu_group *group, ncclUniqueId id, error_text *error) {
  ncclResult_t result = ncclGroupStart();
  for (int i = 0; i < group->count && result == ncclSuccess; i++) {
    gpu_rank *member = &group->members[i];
    if (!device_ok(cudaSetDevice(member->device), "selecting a GPU", error)) return false;
    result = ncclCommInitRank(&member->group.comm, group->ranks, id, member->group.rank);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return group_nccl_ok(result == ncclSuccess ? ended : result, NULL, "connecting the GPUs", error);
}

static bool open_stream(cudaStream_t *stream, error_text *error) {
  return device_ok(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream",
                   error);
}

static bool open_rank(gpu_group *group, int index, int rank, int device, error_text *error) {
  gpu_rank *member = &group->members[index];
  *member = (gpu_rank){.device = device, .group = {.rank = rank, .ranks = group->ranks}};
  member->group.copies = member->copies;
  if (!device_ok(cudaSetDevice(device), "selecting a GPU", error) ||
      !open_stream(&member->stream, error) || !open_stream(&member->group.products, error))
    return false;
  for (int i = 0; i < group->ranks; i++)
    if (!open_stream(&member->copies[i], error)) return false;
  return true;
}

bool group_open(gpu_group *group, int ranks, error_text *error) {
  memset(group, 0, sizeof *group);
  group->ranks = group->count = ranks;
  group->reachable = reach_peers(ranks);
  for (int i = 0; i < ranks; i++)
    if (!open_rank(group, i, i, i, error)) return false;
  ncclUniqueId id;
  return group_nccl_ok(ncclGetUniqueId(&id), NULL, "making NCCL's id", error) &&
         connect_ranks(group, id, error);
}

bool group_open_process(gpu_group *group, const process_place *place, error_text *error) {
  memset(group, 0, sizeof *group);
  group->ranks = place->ranks;
  group->count = 1;
  int gpus = 0;
  if (!device_ok(cudaGetDeviceCount(&gpus), "counting the GPUs", error)) return false;
  if (place->local >= gpus)
    return fail(error, "rank %d has no GPU, because its machine has %d: start fewer ranks on it",
                place->rank, gpus);
  ncclUniqueId id;
  if (place->rank == 0 && !group_nccl_ok(ncclGetUniqueId(&id), NULL, "making NCCL's id", error))
    return false;
  processes_share(&id, sizeof id);
  return open_rank(group, 0, place->rank, place->local, error) && connect_ranks(group, id, error);
}

void group_undeal(gpu_group *group) {
  for (int i = 0; i < group->count; i++) {
    gpu_rank *member = &group->members[i];
    cudaSetDevice(member->device);
    guarded_buffer *buffers[] = {&member->q, &member->k,   &member->v,
                                 &member->o, &member->lse, &member->workspace};
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; b++) guard_free(buffers[b]);
  }
}

void group_abort(gpu_group *group) {
  for (int i = 0; i < group->count; i++) {
    gpu_rank *member = &group->members[i];
    cudaSetDevice(member->device);
    if (member->group.comm) ncclCommAbort(member->group.comm);
    member->group.comm = NULL;
  }
}

void group_close(gpu_group *group) {
  if (group->failed) group_abort(group);
  group_undeal(group);
  for (int i = 0; i < group->count; i++) {
    gpu_rank *member = &group->members[i];
    cudaSetDevice(member->device);
    if (member->group.comm) ncclCommDestroy(member->group.comm);
    if (member->stream) cudaStreamDestroy(member->stream);
    if (member->group.products) cudaStreamDestroy(member->group.products);
    for (int c = 0; c < group->ranks; c++)
      if (member->copies[c]) cudaStreamDestroy(member->copies[c]);
  }
  cudaSetDevice(0);
  memset(group, 0, sizeof *group);
}

// --- threads -------------------------------------------------------------------------------------

double group_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Remembers the sentence of the first rank that fails.
static pthread_mutex_t first_failure = PTHREAD_MUTEX_INITIALIZER;
static void rank_failed(gpu_group *group, const error_text *error) {
  pthread_mutex_lock(&first_failure);
  if (!group->failed) {
    if (*group->doing.text)
      fail(&group->sentence, "%s: %s", group->doing.text, error->text);
    else
      group->sentence = *error;
    group->failed = true;
  }
  pthread_mutex_unlock(&first_failure);
}

typedef struct {
  gpu_group *group;
  gpu_rank *member;
  group_work *work;
  void *context;
  pthread_t thread;
  bool ended;
} rank_thread;

static void *run_rank(void *context) {
  rank_thread *rank = context;
  error_text error;
  const bool good =
      device_ok(cudaSetDevice(rank->member->device), "selecting the rank's GPU", &error) &&
      rank->work(rank->group, rank->member, rank->context, &error);
  if (!good) rank_failed(rank->group, &error);
  return NULL;
}

// A rank may be inside a call of NCCL that waits for the rank that failed. Its communicator is ended from outside, and
// if that does not help, so is the program.
static void end_stuck_ranks(gpu_group *group, rank_thread *threads, double since_failure,
                            bool *aborted) {
  const double patience = 2, more_patience = 6;
  if (since_failure > patience && !*aborted) {
    *aborted = true;
    for (int i = 0; i < group->count; i++) {
      if (threads[i].ended || !group->members[i].group.comm) continue;
      const ncclComm_t comm = group->members[i].group.comm;
      group->members[i].group.comm = NULL;
      ncclCommAbort(comm);
    }
  }
  if (since_failure > more_patience) {
    fflush(stdout);
    fprintf(stderr, "error: %s\n", group->sentence.text);
    for (int i = 0; i < group->count; i++)
      if (!threads[i].ended)
        fprintf(stderr, "note: rank %d does not come back from a call of CUDA, NCCL or the step\n",
                group->members[i].group.rank);
    _exit(EXIT_CHECK_FAILED);
  }
}

bool group_each(gpu_group *group, group_work *work, void *context, error_text *error) {
  rank_thread threads[GROUP_MOST_RANKS];
  int running = 0;
  for (int i = 0; i < group->count; i++) atomic_store(&group->lined_up[i], 0);
  for (int i = 0; i < group->count; i++) {
    threads[i] = (rank_thread){group, &group->members[i], work, context, 0, false};
    if (pthread_create(&threads[i].thread, NULL, run_rank, &threads[i]) != 0) {
      error_text none;
      fail(&none, "no thread can be made for rank %d", i);
      rank_failed(group, &none);
      threads[i].ended = true;
      continue;
    }
    running++;
  }
  double failed_at = 0;
  bool aborted = false;
  while (running > 0) {
    for (int i = 0; i < group->count; i++) {
      if (threads[i].ended || pthread_tryjoin_np(threads[i].thread, NULL) == EBUSY) continue;
      threads[i].ended = true;
      running--;
    }
    if (running == 0) break;
    usleep(50);
    if (!group->failed) continue;
    if (failed_at == 0) failed_at = group_seconds();
    end_stuck_ranks(group, threads, group_seconds() - failed_at, &aborted);
  }
  cudaSetDevice(0);
  if (!group->failed) return true;
  *error = group->sentence;
  return false;
}

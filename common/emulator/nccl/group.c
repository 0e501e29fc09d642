// The calls of a host thread: they are checked, collected between ncclGroupStart and ncclGroupEnd, and queued.
#include "clique.h"

#include "errors.h"
#include "memory.h"
#include "runtime/plural.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
  int depth;
  call *calls;
  unsigned count, room;
  ncclComm_t joined[DEVICES_MAX]; // ranks whose others are still to join
  unsigned joined_count;
  ncclResult_t error; // the first of the group
} group;

bool group_open(void) { return group.depth > 0; }

ncclResult_t group_add_rank(ncclComm_t comm) {
  if (group.joined_count == DEVICES_MAX) return ncclInvalidUsage;
  group.joined[group.joined_count++] = comm;
  return ncclSuccess;
}

// ---- Queueing -----------------------------------------------------------------------------------

// Takes the calls of the first call's rank out of the group, in their order.
static call *take_rank(unsigned *taken) {
  const ncclComm_t comm = group.calls[0].comm;
  call *calls = malloc(group.count * sizeof *calls);
  if (calls == NULL) abort();
  unsigned kept = 0;
  *taken = 0;
  for (unsigned i = 0; i < group.count; i++) {
    if (group.calls[i].comm == comm) {
      calls[(*taken)++] = group.calls[i];
    } else {
      group.calls[kept++] = group.calls[i];
    }
  }
  group.count = kept;
  return calls;
}

// Queues nothing if the communicator has failed or fails now.
static ncclResult_t queue_rank(call *calls, unsigned count) {
  ncclComm_t comm = calls[0].comm;
  ncclResult_t result = comm->clique->error;
  if (result != ncclSuccess) clique_report(comm->clique);
  for (unsigned i = 0; i < count && result == ncclSuccess; i++) {
    result = match_join(&calls[i]);
    comm->latest = calls[i];
  }
  operation *made = result == ncclSuccess ? collective_make(comm, calls, count) : NULL;
  if (made == NULL) {
    free(calls);
    return result != ncclSuccess ? result : ncclSystemError;
  }
  if (comm->last.stream != NULL && !queue_reached(comm->last)) queue_after(made, comm->last);
  comm->last = queue_add_locked(made, calls[0].stream);
  return ncclSuccess;
}

// On one device everything has happened when a call returns.
static ncclResult_t finish_one_device(void) {
  return devices_several() || queue_wait(queue_end(NULL)) == cudaSuccess ? ncclSuccess
                                                                         : ncclUnhandledCudaError;
}

static ncclResult_t flush(void) {
  ncclResult_t result = group.error;
  group.error = ncclSuccess;
  queue_lock();
  for (unsigned i = 0; i < group.joined_count; i++) {
    const ncclResult_t joined = communicator_wait(group.joined[i]->clique);
    if (result == ncclSuccess) result = joined;
  }
  group.joined_count = 0;
  if (result != ncclSuccess) group.count = 0;
  while (group.count > 0) {
    unsigned count;
    call *calls = take_rank(&count);
    const ncclResult_t queued = queue_rank(calls, count);
    if (result == ncclSuccess) result = queued;
  }
  queue_unlock();
  free(group.calls);
  group.calls = NULL;
  group.room = 0;
  return result != ncclSuccess ? result : finish_one_device();
}

ncclResult_t ncclGroupStart(void) {
  group.depth++;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  if (group.depth == 0) return ncclInvalidUsage;
  return --group.depth > 0 ? ncclSuccess : flush();
}

// ---- Checks -------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static ncclResult_t
refuse(const call *call, ncclResult_t error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr);
  fprintf(stderr, "error: rank %d calls %s: ", call->comm->rank, call_describe(call).text);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
  va_end(arguments);
  return error;
}

static ncclResult_t check_buffer(const call *call, const char *name, const void *address,
                                 size_t bytes) {
  memory_allocation entry;
  if (bytes == 0) return ncclSuccess;
  if (!memory_find(address, &entry)) {
    return refuse(call, ncclInvalidArgument, "the %s buffer is not memory of a device", name);
  }
  if (entry.kind == MEMORY_DEVICE && entry.device != call->comm->device) {
    return refuse(call, ncclInvalidArgument,
                  "the %s buffer is memory of device %d, and the rank is on device %d", name,
                  entry.device, call->comm->device);
  }
  const size_t room = entry.bytes - ((uintptr_t)address - entry.start);
  if (bytes > room) {
    return refuse(call, ncclInvalidArgument, "the %s buffer has %zu byte%s, and the call needs %zu",
                  name, room, plural(room), bytes);
  }
  return ncclSuccess;
}

static ncclResult_t check(const call *call) {
  const int ranks = call->comm->clique->ranks;
  if (call->peer < 0 || call->peer >= ranks) {
    return refuse(call, ncclInvalidArgument, "there are only the ranks 0 to %d", ranks - 1);
  }
  if (call->stream->device != call->comm->device) {
    return refuse(call, ncclUnhandledCudaError,
                  "the stream belongs to device %d, and the rank is on device %d",
                  call->stream->device, call->comm->device);
  }
  for (unsigned i = 0; i < group.count; i++) {
    if (group.calls[i].comm == call->comm && group.calls[i].stream != call->stream) {
      return refuse(call, ncclInvalidUsage,
                    "the emulator wants one stream for all calls of a rank in a group");
    }
  }
  const ncclResult_t sends = check_buffer(call, "send", call->send, call_send_bytes(call));
  if (sends != ncclSuccess) return sends;
  return check_buffer(call, "receive", call->receive, call_receive_bytes(call));
}

static ncclResult_t add(call wanted) {
  if (wanted.comm == NULL || call_type_bytes(wanted.type) == 0) return ncclInvalidArgument;
  ncclComm_t comm = wanted.comm;
  if (errors_sticky_of(comm->device) != cudaSuccess) {
    queue_lock();
    clique_device_failed(comm);
    queue_unlock();
    return ncclUnhandledCudaError;
  }
  if (!devices_several()) wanted.stream = NULL;
  wanted.stream = queue_stream_of(wanted.stream, comm->device);
  ncclResult_t result = check(&wanted);
  if (result == ncclSuccess && group.count == group.room) {
    const unsigned room = group.room > 0 ? 2 * group.room : 16;
    call *larger = realloc(group.calls, room * sizeof *larger);
    if (larger == NULL) return ncclSystemError;
    group.calls = larger;
    group.room = room;
  }
  if (result == ncclSuccess) group.calls[group.count++] = wanted;
  queue_lock();
  comm->owner = queue_thread();
  queue_unlock();
  if (group_open()) {
    if (group.error == ncclSuccess) group.error = result;
    return result;
  }
  return result == ncclSuccess ? flush() : result;
}

// ---- NCCL's functions ---------------------------------------------------------------------------

// Adds the call of one of these functions, whose arguments have the same names everywhere. Further fields follow.
#define ADD(of_kind, ...)                                                                          \
  add((call){.kind = of_kind,                                                                      \
             .count = count,                                                                       \
             .type = type,                                                                         \
             .comm = comm,                                                                         \
             .stream = stream,                                                                     \
             .site = {__func__, __builtin_return_address(0)},                                      \
             __VA_ARGS__})

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return ADD(CALL_SEND, .send = send, .peer = peer);
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return ADD(CALL_RECEIVE, .receive = receive, .peer = peer);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return ADD(CALL_ALL_GATHER, .send = send, .receive = receive);
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
  return ADD(CALL_ALL_REDUCE, .send = send, .receive = receive, .reduction = reduction);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream) {
  return ADD(CALL_REDUCE_SCATTER, .send = send, .receive = receive, .reduction = reduction);
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  return ADD(CALL_BROADCAST, .send = send, .receive = receive, .peer = root);
}

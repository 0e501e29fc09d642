// The inside of the stand-in for NCCL: the communicators that belong together, their calls, and which calls match.
//
// Everything here is guarded by the lock of the queues (runtime/queue.h), and functions expect it held unless
// they say otherwise. A host thread that waits for others uses queue_pause.
#ifndef CLIQUE_H
#define CLIQUE_H

#include "transfer.h"

#include <nccl.h>

typedef enum {
  CALL_SEND,
  CALL_RECEIVE,
  CALL_ALL_GATHER,
  CALL_ALL_REDUCE,
  CALL_REDUCE_SCATTER,
  CALL_BROADCAST
} call_kind;

typedef struct call call;

// Calls of different ranks that belong together: one for each rank, or a send (0) and its receive (1).
typedef struct match {
  struct match *next;
  bool message;
  int from, to; // ranks of a message
  uint64_t index;
  call *calls[DEVICES_MAX];
  unsigned wanted, joined, delivered;
  char *result; // once all have begun: what is delivered
} match;

typedef struct clique clique;

struct call {
  call_kind kind;
  const void *send;
  void *receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int peer; // or root
  ncclComm_t comm;
  cudaStream_t stream;
  host_call site;
  match *match;
  operation *within;
  snapshot snapshot; // of what it sends
  bool delivered;
};

struct ncclComm {
  clique *clique;
  int rank, device;
  host_thread *owner;   // that has called for the rank last
  uint64_t collectives; // calls so far
  uint64_t sent[DEVICES_MAX], received[DEVICES_MAX];
  moment last; // the end of its last operation; stream NULL before the first
  call latest; // for reports; no `site.name` before the first
  bool finalized, aborted, gone;
};

struct clique {
  clique *next; // in the list of all
  ncclUniqueId id;
  int ranks, joined;
  ncclComm_t comms[DEVICES_MAX]; // by rank; NULL until it has joined
  match *matches;                // that are not delivered yet
  unsigned operations;           // that are queued
  ncclResult_t error;            // of all ranks, once it has failed
  bool reported;
  bool stuck;         // because its ranks wait for each other
  char sentence[512]; // about the error
};

size_t call_type_bytes(ncclDataType_t type); // 0 for an unknown type
size_t call_send_bytes(const call *call);
size_t call_receive_bytes(const call *call);

// "ncclSend of 64 x ncclFloat16 to rank 1 (in step.cu:12)", for reports.
typedef struct {
  char text[400];
} call_text;
call_text call_describe(const call *call);

// match.c: gives the call its place among those of its rank, and joins it with those that match. Returns
// ncclInvalidUsage, and reports it, if it differs from them.
ncclResult_t match_join(call *call);
void match_free(clique *clique, match *match);

// collective.c: the operation of `count` calls of one rank that begin together; takes over `calls`, from malloc.
operation *collective_make(ncclComm_t comm, call *calls, unsigned count);
const call *
collective_blocked(const operation *operation); // a call that waits for others; NULL if none does
// Whether the call waits for that slot of its match.
bool collective_lacks(const call *call, unsigned slot);

// The results of all ranks' buffers, each of `count` elements, for reductions (reduction.c).
void reduction_apply(char *sum, const char *more, size_t count, ncclDataType_t type,
                     ncclRedOp_t reduction);
void reduction_divide(char *sum, size_t count, ncclDataType_t type, int ranks);

// stuck.c: the clique has failed; the first sentence is kept, and printed when a host thread waits.
__attribute__((format(printf, 3, 4))) void clique_fail(clique *clique, ncclResult_t error,
                                                       const char *format, ...);

void clique_device_failed(const struct ncclComm *comm);

// Prints the sentence, and where each rank stands if they wait for each other, unless that has been printed.
void clique_report(clique *clique);

// The seconds for which nothing may change while ranks wait: EMU_NCCL_LIMIT.
double clique_limit_seconds(void);

// communicator.c: frees the clique when it has no ranks and no operations any more.
void clique_release(clique *clique);

// group.c: whether the host thread is between ncclGroupStart and ncclGroupEnd; a rank that will join at the end.
bool group_open(void);
ncclResult_t group_add_rank(ncclComm_t comm);
ncclResult_t communicator_wait(clique *clique); // until all ranks have joined

#endif

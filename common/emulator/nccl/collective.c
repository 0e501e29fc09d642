// The operation of a rank's calls that begin together, and what they deliver.
#include "clique.h"

#include "links.h"
#include "observer.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  ncclComm_t comm;
  call *calls;
  unsigned count;
} collective;

// ---- Begin --------------------------------------------------------------------------------------

static void begin(operation *operation) {
  const collective *it = operation->data;
  for (unsigned i = 0; i < it->count; i++) {
    call *call = &it->calls[i];
    const size_t sent = call_send_bytes(call), received = call_receive_bytes(call);
    call->snapshot = snapshot_take(call->send, sent);
    if (sent > 0) flight_begin(&(flight){call, (uintptr_t)call->send, sent, false, call->site});
    if (received > 0) {
      transfer_poison(call->receive, received, call->send, sent);
      flight_begin(&(flight){call, (uintptr_t)call->receive, received, true, call->site});
    }
  }
}

// ---- Waiting for the others ---------------------------------------------------------------------

bool collective_lacks(const call *call, unsigned slot) {
  const struct call *other = call->match->calls[slot];
  return call->match->result == NULL && (other == NULL || !other->within->begun);
}

static bool complete(const call *call) {
  for (unsigned slot = 0; slot < call->match->wanted; slot++) {
    if (collective_lacks(call, slot)) return false;
  }
  return true;
}

static bool can_deliver(const operation *operation) {
  const collective *it = operation->data;
  if (it->comm->aborted) return true;
  if (it->comm->clique->error != ncclSuccess) return false;
  for (unsigned i = 0; i < it->count; i++) {
    if (!it->calls[i].delivered && complete(&it->calls[i])) return true;
  }
  return false;
}

static bool needs(const operation *operation, unsigned i, moment *next) {
  const collective *it = operation->data;
  *next = (moment){NULL, 0};
  if (it->comm->clique->error != ncclSuccess || i >= it->count * DEVICES_MAX) return false;
  const call *call = &it->calls[i / DEVICES_MAX];
  const unsigned slot = i % DEVICES_MAX;
  if (call->delivered || slot >= call->match->wanted || !collective_lacks(call, slot)) return true;
  const struct call *other = call->match->calls[slot];
  if (other != NULL) *next = (moment){other->within->stream, other->within->number};
  return true;
}

// ---- Delivery -----------------------------------------------------------------------------------

static int device_of_rank(const clique *clique, int rank) {
  return clique->comms[rank % clique->ranks]->device;
}

// Counts bytes from each rank to the next one of the ring, except into the rank `but` (-1: none).
static void count_ring(const clique *clique, size_t bytes, int but) {
  for (int rank = 0; rank < clique->ranks; rank++) {
    if ((rank + 1) % clique->ranks == but) continue;
    links_count(device_of_rank(clique, rank), device_of_rank(clique, rank + 1), bytes);
  }
}

static char *reduce(const match *match, size_t bytes) {
  const call *first = match->calls[0];
  const size_t count = bytes / call_type_bytes(first->type);
  char *sum = malloc(bytes), *more = malloc(bytes);
  if (sum == NULL || more == NULL) abort();
  snapshot_deliver(&first->snapshot, sum);
  for (unsigned rank = 1; rank < match->wanted; rank++) {
    snapshot_deliver(&match->calls[rank]->snapshot, more);
    reduction_apply(sum, more, count, first->type, first->reduction);
  }
  if (first->reduction == ncclAvg) reduction_divide(sum, count, first->type, (int)match->wanted);
  free(more);
  return sum;
}

// Takes the bytes of all ranks. They travel as in NCCL's ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", JPDC 2009).
static void compute(const clique *clique, match *match) {
  const call *first = match->calls[0];
  const size_t bytes = first->count * call_type_bytes(first->type), ranks = match->wanted;
  switch (first->kind) {
  case CALL_SEND:
  case CALL_RECEIVE:
    match->result = malloc(bytes + 1);
    snapshot_deliver(&first->snapshot, match->result);
    links_count(device_of_rank(clique, match->from), device_of_rank(clique, match->to), bytes);
    break;
  case CALL_BROADCAST:
    match->result = malloc(bytes + 1);
    snapshot_deliver(&match->calls[first->peer]->snapshot, match->result);
    count_ring(clique, bytes, first->peer);
    break;
  case CALL_ALL_GATHER:
    match->result = malloc(bytes * ranks + 1);
    for (size_t rank = 0; rank < ranks; rank++) {
      snapshot_deliver(&match->calls[rank]->snapshot, match->result + rank * bytes);
    }
    count_ring(clique, bytes * (ranks - 1), -1);
    break;
  case CALL_ALL_REDUCE:
    match->result = reduce(match, bytes);
    count_ring(clique, 2 * bytes * (ranks - 1) / ranks, -1);
    break;
  case CALL_REDUCE_SCATTER:
    match->result = reduce(match, bytes * ranks);
    count_ring(clique, bytes * (ranks - 1), -1);
    break;
  }
}

static void deliver_call(call *call) {
  match *match = call->match;
  clique *clique = call->comm->clique;
  if (match->result == NULL) compute(clique, match);
  const size_t bytes = call_receive_bytes(call);
  const size_t offset = call->kind == CALL_REDUCE_SCATTER ? (size_t)call->comm->rank * bytes : 0;
  if (bytes > 0) {
    observer_memory_written(call->receive, bytes, NULL);
    memcpy(call->receive, match->result + offset, bytes);
  }
  flight_end(call);
  call->delivered = true;
  if (++match->delivered == match->wanted) match_free(clique, match);
}

static bool deliver(operation *operation) {
  const collective *it = operation->data;
  if (it->comm->aborted) return true;
  bool all = true;
  for (unsigned i = 0; i < it->count; i++) {
    call *call = &it->calls[i];
    if (!call->delivered && complete(call)) deliver_call(call);
    all = all && call->delivered;
  }
  return all;
}

static void end(operation *operation, bool dropped) {
  const collective *it = operation->data;
  clique *clique = it->comm->clique;
  if (dropped) clique_device_failed(it->comm);
  for (unsigned i = 0; i < it->count; i++) {
    flight_end(&it->calls[i]);
    snapshot_free(&it->calls[i].snapshot);
  }
  free(it->calls);
  clique->operations--;
  clique_release(clique);
}

static const operation_class collectives = {
    .begin = begin, .can_deliver = can_deliver, .deliver = deliver, .needs = needs, .end = end};

operation *collective_make(ncclComm_t comm, call *calls, unsigned count) {
  operation *made = queue_make(&collectives, sizeof(collective));
  if (made == NULL) return NULL;
  *(collective *)made->data = (collective){comm, calls, count};
  comm->clique->operations++;
  for (unsigned i = 0; i < count; i++) calls[i].within = made;
  return made;
}

const call *collective_blocked(const operation *operation) {
  if (operation->class != &collectives) return NULL;
  const collective *it = operation->data;
  for (unsigned i = 0; i < it->count; i++) {
    if (!it->calls[i].delivered) return &it->calls[i];
  }
  return NULL;
}

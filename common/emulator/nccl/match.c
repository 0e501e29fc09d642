// Which calls of different ranks belong together: NCCL goes by their order alone.
#include "clique.h"

#include <stdlib.h>
#include <string.h>

static bool is_message(const call *call) {
  return call->kind == CALL_SEND || call->kind == CALL_RECEIVE;
}

static match *find(clique *clique, const match *wanted) {
  match *found = clique->matches;
  while (found != NULL && (found->message != wanted->message || found->from != wanted->from ||
                           found->to != wanted->to || found->index != wanted->index)) {
    found = found->next;
  }
  return found;
}

static match key_of(const call *call) {
  ncclComm_t comm = call->comm;
  match key = {.wanted = (unsigned)comm->clique->ranks};
  if (!is_message(call)) {
    key.index = comm->collectives++;
    return key;
  }
  const bool sends = call->kind == CALL_SEND;
  key.message = true;
  key.wanted = 2;
  key.from = sends ? comm->rank : call->peer;
  key.to = sends ? call->peer : comm->rank;
  key.index = sends ? comm->sent[call->peer]++ : comm->received[call->peer]++;
  return key;
}

static bool agree(const call *a, const call *b, bool message) {
  if (a->count != b->count || a->type != b->type) return false;
  if (message) return true;
  const bool reduces = a->kind == CALL_ALL_REDUCE || a->kind == CALL_REDUCE_SCATTER;
  return a->kind == b->kind && (!reduces || a->reduction == b->reduction) &&
         (a->kind != CALL_BROADCAST || a->peer == b->peer);
}

ncclResult_t match_join(call *call) {
  clique *clique = call->comm->clique;
  const match key = key_of(call);
  match *found = find(clique, &key);
  if (found == NULL) {
    found = malloc(sizeof *found);
    if (found == NULL) return ncclSystemError;
    *found = key;
    found->next = clique->matches;
    clique->matches = found;
  }
  call->match = found;
  const unsigned slot =
      found->message ? (call->kind == CALL_SEND ? 0 : 1) : (unsigned)call->comm->rank;
  found->calls[slot] = call;
  found->joined++;
  for (unsigned i = 0; i < found->wanted; i++) {
    const struct call *other = found->calls[i];
    if (other == NULL || agree(call, other, found->message)) continue;
    clique_fail(clique, ncclInvalidUsage,
                "The ranks' calls do not match: rank %d calls %s; rank %d calls %s",
                other->comm->rank, call_describe(other).text, call->comm->rank,
                call_describe(call).text);
    return ncclInvalidUsage;
  }
  return ncclSuccess;
}

void match_free(clique *clique, match *gone) {
  match **link = &clique->matches;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
  free(gone->result);
  free(gone);
}

// What all transfers between memories share, copies and collectives alike: what they read and write while they are
// under way, and how a source that changes meanwhile is noticed.
//
// Transfers begin and deliver with the lock of the queues held, while no kernel runs.
#ifndef TRANSFER_H
#define TRANSFER_H

#include "queue.h"

#include <stddef.h>

// The call by which the host queued a transfer.
typedef struct {
  const char *name; // "cudaMemcpyPeerAsync"
  const void *code; // where the host's call returns to
} host_call;

// Memory that a transfer under way reads or writes.
typedef struct {
  const void *owner; // the transfer
  uintptr_t start;
  size_t bytes;
  bool writes;
  host_call call;
} flight;

void flight_begin(const flight *flight);
void flight_end(const void *owner);

// A transfer under way with which an access of a kernel to these bytes collides; NULL if there is none.
const flight *flight_find(uintptr_t address, size_t bytes, bool writes);

// Fills the destination of a transfer that begins, as far as it is not part of what it reads. A word of 8 bytes at most
// keeps its value, because it changes in one step: it may be a flag that a kernel polls.
void transfer_poison(void *destination, size_t bytes, const void *source, size_t source_bytes);

// The source as it was when the transfer began.
typedef struct {
  const void *source;
  void *seen; // NULL if memory has run out: then changes are not noticed
  size_t bytes;
} snapshot;
snapshot snapshot_take(const void *source, size_t bytes);
void snapshot_free(snapshot *snapshot);

// Writes the bytes that the transfer carries: those of the source now, and poison in place of 4 bytes of which one has
// changed since.
void snapshot_deliver(const snapshot *snapshot, void *to);

// Copies and fills of one stream (copy.c has checked the arguments). A copy from memory that the host may write at any
// time, which is not pinned, reads it now. Return cudaErrorMemoryAllocation if memory has run out.
cudaError_t transfer_copy(void *destination, const void *source, size_t bytes, cudaStream_t stream,
                          host_call call);
cudaError_t transfer_fill(void *destination, int value, size_t bytes, cudaStream_t stream,
                          host_call call);

#endif

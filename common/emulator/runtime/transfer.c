#define _GNU_SOURCE
#include "transfer.h"

#include "code_line.h"
#include "errors.h"
#include "fault.h"
#include "links.h"
#include "memory.h"
#include "numeric/poison.h"
#include "observer.h"
#include "plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Under way ----------------------------------------------------------------------------------

static flight *flights;
static size_t flight_count, flight_room;

void flight_begin(const flight *added) {
  if (flight_count == flight_room) {
    const size_t room = flight_room > 0 ? 2 * flight_room : 32;
    flight *larger = realloc(flights, room * sizeof *flights);
    if (larger == NULL) return; // the sanitizer will not see it
    flights = larger;
    flight_room = room;
  }
  flights[flight_count++] = *added;
}

void flight_end(const void *owner) {
  size_t kept = 0;
  for (size_t i = 0; i < flight_count; i++) {
    if (flights[i].owner != owner) flights[kept++] = flights[i];
  }
  flight_count = kept;
}

const flight *flight_find(uintptr_t address, size_t bytes, bool writes) {
  for (size_t i = 0; i < flight_count; i++) {
    const flight *one = &flights[i];
    if ((writes || one->writes) && address < one->start + one->bytes &&
        one->start < address + bytes) {
      return one;
    }
  }
  return NULL;
}

// The pattern continues from the even address below an odd one.
static void poison_range(uintptr_t start, uintptr_t end) {
  if (start >= end) return;
  const uint16_t bits = poison_bits(POISON_COPY);
  char *at = (char *)start;
  if (start % 2 != 0) *at++ = (char)(bits >> 8);
  poison_fill(at, (size_t)((char *)end - at), POISON_COPY);
}

void transfer_poison(void *destination, size_t bytes, const void *source, size_t source_bytes) {
  enum { WORD = 8 };
  const uintptr_t start = (uintptr_t)destination, end = start + bytes;
  if (bytes <= WORD) return;
  const uintptr_t kept = (uintptr_t)source, kept_end = kept + source_bytes;
  if (kept >= end || kept_end <= start) {
    poison_range(start, end);
  } else {
    poison_range(start, kept);
    poison_range(kept_end, end);
  }
}

snapshot snapshot_take(const void *source, size_t bytes) {
  snapshot taken = {.source = source, .bytes = bytes};
  if (bytes > 0) taken.seen = malloc(bytes);
  if (taken.seen != NULL) memcpy(taken.seen, source, bytes);
  return taken;
}

void snapshot_free(snapshot *snapshot) {
  free(snapshot->seen);
  snapshot->seen = NULL;
}

void snapshot_deliver(const snapshot *snapshot, void *to) {
  enum { PIECE = 4 };
  const char *now = snapshot->source, *seen = snapshot->seen;
  const size_t bytes = snapshot->bytes;
  if (bytes == 0) return;
  if (seen != NULL && memcmp(now, seen, bytes) != 0) {
    for (size_t at = 0; at < bytes; at += PIECE) {
      const size_t piece = bytes - at < PIECE ? bytes - at : PIECE;
      char *out = (char *)to + at;
      if (memcmp(now + at, seen + at, piece) == 0) {
        memmove(out, now + at, piece);
      } else {
        poison_fill(out, piece, POISON_COPY);
      }
    }
    return;
  }
  memmove(to, now, bytes);
}

// ---- Copies and fills ---------------------------------------------------------------------------

typedef struct {
  char *destination;
  const char *source; // NULL for a fill, and for a copy whose bytes were taken when it was queued
  int value;          // of a fill
  size_t bytes;
  snapshot snapshot;
  int from, to; // devices; -1 for the host
  host_call call;
} transfer;

// The memory may have been freed since, by a host thread that did not wait for this device. Reports it.
static bool lives(const operation *operation, const void *address, int device) {
  const transfer *it = operation->data;
  if (address == NULL || device < 0 || memory_on_device(address, it->bytes)) return true;
  code_line line;
  code_line_find((const char *)it->call.code - 1, &line);
  flockfile(stderr);
  fault_report_title("Invalid memory of device %d: it was freed before %s of %zu byte%s was done",
                     device, it->call.name, it->bytes, plural(it->bytes));
  if (line.line > 0)
    fault_report_line("queued at %s in %s:%d", line.function, line.file, line.line);
  fault_report_line("hint: cudaFree() waits for the current device alone: wait for the copy first");
  funlockfile(stderr);
  errors_set_sticky(operation->stream->device, cudaErrorIllegalAddress);
  return false;
}

static bool both_live(const operation *operation) {
  const transfer *it = operation->data;
  return lives(operation, it->destination, it->to) && lives(operation, it->source, it->from);
}

static void begin(operation *operation) {
  transfer *it = operation->data;
  if (!both_live(operation)) return;
  if (it->source != NULL) {
    it->snapshot = snapshot_take(it->source, it->bytes);
    flight_begin(&(flight){operation, (uintptr_t)it->source, it->bytes, false, it->call});
  }
  transfer_poison(it->destination, it->bytes, it->source, it->source != NULL ? it->bytes : 0);
  flight_begin(&(flight){operation, (uintptr_t)it->destination, it->bytes, true, it->call});
}

static bool deliver(operation *operation) {
  transfer *it = operation->data;
  if (errors_sticky_of(operation->stream->device) != cudaSuccess || !both_live(operation))
    return true;
  observer_memory_written(it->destination, it->bytes, it->from >= 0 ? it->source : NULL);
  if (it->source != NULL) {
    snapshot_deliver(&it->snapshot, it->destination);
  } else if (it->snapshot.seen != NULL) {
    memcpy(it->destination, it->snapshot.seen, it->bytes);
  } else {
    memset(it->destination, it->value, it->bytes);
  }
  if (it->from >= 0 && it->to >= 0) links_count(it->from, it->to, it->bytes);
  return true;
}

static void end(operation *operation, bool dropped) {
  (void)dropped;
  transfer *it = operation->data;
  flight_end(operation);
  snapshot_free(&it->snapshot);
}

static const operation_class transfers = {.begin = begin, .deliver = deliver, .end = end};

static int device_of(const void *address) {
  memory_allocation entry;
  return memory_find(address, &entry) && entry.kind != MEMORY_HOST ? entry.device : -1;
}

static cudaError_t queue_transfer(transfer wanted, cudaStream_t stream) {
  operation *made = queue_make(&transfers, sizeof wanted);
  if (made == NULL) return cudaErrorMemoryAllocation;
  *(transfer *)made->data = wanted;
  queue_lock();
  if (wanted.from >= 0 && wanted.to >= 0 && wanted.from != wanted.to)
    queue_note_copy(queue_stream(stream));
  queue_add_locked(made, stream);
  queue_unlock();
  return cudaSuccess;
}

cudaError_t transfer_copy(void *destination, const void *source, size_t bytes, cudaStream_t stream,
                          host_call call) {
  transfer wanted = {.destination = destination,
                     .source = source,
                     .bytes = bytes,
                     .from = device_of(source),
                     .to = device_of(destination),
                     .call = call};
  memory_allocation known;
  if (!memory_find(source, &known)) {
    wanted.snapshot = snapshot_take(source, bytes);
    if (wanted.snapshot.seen == NULL) return cudaErrorMemoryAllocation;
    wanted.source = NULL;
  }
  return queue_transfer(wanted, stream);
}

cudaError_t transfer_fill(void *destination, int value, size_t bytes, cudaStream_t stream,
                          host_call call) {
  return queue_transfer((transfer){.destination = destination,
                                   .value = value,
                                   .bytes = bytes,
                                   .from = -1,
                                   .to = device_of(destination),
                                   .call = call},
                        stream);
}

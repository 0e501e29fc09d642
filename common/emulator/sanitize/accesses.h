// The check of one access against what is allowed and against what happened before.
#ifndef SANITIZE_ACCESSES_H
#define SANITIZE_ACCESSES_H

#include "findings.h"
#include "regions.h"

typedef struct {
  worker *worker;
  unsigned thread; // in the block: what it knows of decides
  unsigned actor;  // that is remembered: the thread, or what acts for it
  uintptr_t address;
  size_t bytes;
  observed_kind kind;
  bool again; // it is remembered already
  uint32_t place;
} checked_access;

static inline bool access_writes(observed_kind kind) {
  return kind == OBSERVED_WRITE || kind == OBSERVED_ATOMIC || kind == OBSERVED_ASYNC_WRITE ||
         kind == OBSERVED_BOX_WRITE;
}

// As one of a finding's parties: what the running block does, and what has happened.
finding_party access_party(const checked_access *access);
finding_party access_past_party(const past_access *past);

// Writes the finding's detail: where the address is.
void access_describe(finding *found, const void *address);

// A finding with the access as its only party so far.
finding access_finding(const checked_access *access, finding_kind kind, const char *hint);

// Everything: where it goes, how it lies there, whether that has been written, whether it is ordered. The
// other functions are its parts.
void access_check(const checked_access *access);

// events.c: an asynchronous copy is over.
void access_end_copy(const void *destination, unsigned bytes, unsigned actor);

// wild.c: reports that the access goes outside of all memory, and leaves the launch; the same, if its
// address is not a multiple of its size.
__attribute__((noreturn)) void access_outside(const checked_access *access);
void access_check_alignment(const checked_access *access);

// races.c: against the accesses that the region remembers, to which this one is added.
void access_check_races(const checked_access *access, shadow_region *region);

#endif

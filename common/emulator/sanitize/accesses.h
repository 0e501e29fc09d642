// Checks one access: whether it is allowed, and whether it is ordered with earlier accesses.
#ifndef SANITIZE_ACCESSES_H
#define SANITIZE_ACCESSES_H

#include "findings.h"
#include "regions.h"

typedef struct {
  worker *worker;
  unsigned thread; // in the block; the check uses the accesses that this thread knows of
  unsigned actor;  // who is recorded: the thread, or the unit that acts for it
  uintptr_t address;
  size_t bytes;
  observed_kind kind;
  bool of_struct; // which may have padding
  bool again;     // it is recorded already
  uint32_t place;
} checked_access;

static inline bool access_is_atomic(observed_kind kind) {
  return kind == OBSERVED_ATOMIC || kind == OBSERVED_ATOMIC_STORE || kind == OBSERVED_COMPARE;
}

static inline bool access_writes(observed_kind kind) {
  return kind == OBSERVED_WRITE || access_is_atomic(kind) || kind == OBSERVED_ASYNC_WRITE ||
         kind == OBSERVED_BOX_WRITE;
}

// Describe an access as a party of a finding: one of the running block, or an earlier one.
finding_party access_party(const checked_access *access);
finding_party access_past_party(const past_access *past);

// Writes the finding's detail, which says where the address is.
void access_describe(finding *found, const void *address);

// A finding with the access as its only party so far.
finding access_finding(const checked_access *access, finding_kind kind, const char *hint);

// Makes all checks of an access: its region, its alignment, whether the memory is
// initialised, and whether the access is ordered. The other functions are parts of it.
void access_check(const checked_access *access);

// events.c: call it when an asynchronous copy is over.
void access_end_copy(const void *destination, unsigned bytes, unsigned actor);

// wild.c: reports that the access is outside of all memory, or that
// its address is not a multiple of its size, and leaves the launch.
__attribute__((noreturn)) void access_outside(const checked_access *access);
void access_check_alignment(const checked_access *access);

// races.c: checks against the accesses that the region records, and adds this one.
void access_check_races(const checked_access *access, shadow_region *region);

#endif

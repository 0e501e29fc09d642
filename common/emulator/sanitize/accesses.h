// The check of one access against what is allowed and against what happened before.
#ifndef SANITIZE_ACCESSES_H
#define SANITIZE_ACCESSES_H

#include "findings.h"
#include "regions.h"

typedef struct {
  worker *worker;
  unsigned thread; // in the block
  uintptr_t address;
  size_t bytes;
  observed_kind kind;
  uint32_t place;
} checked_access;

static inline bool access_writes(observed_kind kind) {
  return kind == OBSERVED_WRITE || kind == OBSERVED_ATOMIC || kind == OBSERVED_ASYNC_WRITE;
}

// As one of a finding's parties: what the running block does, and what has happened.
finding_party access_party(const checked_access *access);
finding_party access_past_party(const past_access *past);

// Writes the finding's detail: where the address is.
void access_describe(finding *found, const void *address);

void access_check(const checked_access *access);

#endif

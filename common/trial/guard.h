// Device memory with a red zone on both sides, so that a write past either end is seen.
#ifndef GUARD_H
#define GUARD_H

#include "error/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  const char *name; // as an error message calls it
  void *data;       // `bytes` of device memory, aligned to 256 bytes; NULL when bytes is 0
  size_t bytes;
  void *zone;        // the whole allocation
  size_t zone_bytes; // of the red zone on each side; 0 for a bare buffer
} guarded_buffer;

// A bare buffer is an allocation of exactly `bytes` that nobody has written yet: for tools that watch
// memory themselves, and to which a red zone is memory like any other.
bool guard_allocate(guarded_buffer *buffer, const char *name, size_t bytes, bool bare,
                    error_text *error);
void guard_free(guarded_buffer *buffer);

// Fills the data with NaN, so that an element nobody writes cannot look right. Leaves a bare buffer alone.
bool guard_poison(const guarded_buffer *buffer, error_text *error);

// True while both red zones are as they were; else says how far outside the first write landed.
bool guard_intact(const guarded_buffer *buffer, error_text *error);

#endif

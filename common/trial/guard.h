// Device memory with a red zone on both sides, so that a write past either end is seen.
#ifndef GUARD_H
#define GUARD_H

#include "error/error.h"
#include <stddef.h>

typedef struct {
  const char *name; // as an error message calls it
  void *data;       // `bytes` of device memory, aligned to 256 bytes; NULL when bytes is 0
  size_t bytes;
  void *zone; // the whole allocation
} guarded_buffer;

bool guard_allocate(guarded_buffer *buffer, const char *name, size_t bytes, error_text *error);
void guard_free(guarded_buffer *buffer);

// Fills the data with NaN, so that an element nobody writes cannot look right.
bool guard_poison(const guarded_buffer *buffer, error_text *error);

// True while both red zones are as they were; else says how far outside the first write landed.
bool guard_intact(const guarded_buffer *buffer, error_text *error);

#endif

// Device memory with a red zone on both sides, so that a write past either end is detected. The zones hold NaN, so that
// what a step computes from a read past either end is not a number, even if the element has the weight 0.
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

// Allocates a buffer. A bare one is an allocation of exactly `bytes` that has not been written yet. It is for
// tools that check memory accesses themselves and would take a red zone for ordinary memory.
bool guard_allocate(guarded_buffer *buffer, const char *name, size_t bytes, bool bare,
                    error_text *error);
void guard_free(guarded_buffer *buffer);

// Fills an output with CHECK_POISON, so that an element that the step never writes cannot look right. It does
// not write to a bare buffer.
bool guard_poison(const guarded_buffer *buffer, error_text *error);

// Fills a workspace with NaN likewise. It is another NaN, from which an output that was computed from it differs.
bool guard_poison_workspace(const guarded_buffer *buffer, error_text *error);

// Returns true while both red zones are unchanged; else the sentence says how far outside the nearest write
// landed.
bool guard_intact(const guarded_buffer *buffer, error_text *error);

#endif

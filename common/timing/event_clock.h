// The clock of a GPU: two CUDA events.
#ifndef EVENT_CLOCK_H
#define EVENT_CLOCK_H

#include "timing/timing.h"

typedef struct {
  cudaEvent_t before, after;
} event_pair;

// The clock works on `events`, which stay where they are until event_clock_close. False with a sentence
// when no event can be made; then there is nothing to close.
bool event_clock_open(event_pair *events, timing_clock *clock, error_text *error);
void event_clock_close(event_pair *events);

#endif

// The clock of a GPU: two CUDA events behind a kernel that spins, NVML, and the system's sleep.
#ifndef EVENT_CLOCK_H
#define EVENT_CLOCK_H

#include "timing/timing.h"

typedef struct {
  cudaEvent_t before, after;
  long long spin; // clocks that the GPU is kept busy while the host enqueues
} event_pair;

// What a host gets at first, some 25 microseconds, and the most, some tenth of a second.
enum { EVENT_LEAST_SPIN = 50000, EVENT_MOST_SPIN = 1 << 28 };

// The spin for the next launch: twice as long after one in which the host was late, and a little shorter
// after one in which it was not, as what delayed the host once need not do so again.
long long event_next_spin(long long spin, bool late);

// The clock works on `events`, which stay where they are until event_clock_close. False with a sentence
// when no event can be made; then there is nothing to close.
bool event_clock_open(event_pair *events, timing_clock *clock, error_text *error);
void event_clock_close(event_pair *events);

#endif

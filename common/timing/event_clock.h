// The clock that timing uses on a GPU. It consists of two CUDA events behind a kernel that spins, NVML, and
// the system's sleep.
#ifndef EVENT_CLOCK_H
#define EVENT_CLOCK_H

#include "timing/timing.h"

typedef struct {
  cudaEvent_t before, after;
  long long spin; // clock cycles that the GPU is kept busy while the host enqueues
} event_pair;

// The spin begins at about 25 microseconds and is at most about a tenth of a second, in clock cycles.
enum { EVENT_LEAST_SPIN = 50000, EVENT_MOST_SPIN = 1 << 28 };

// Returns the spin for the next launch. It is twice as long after a launch for which the host was late, and a
// little shorter after another one, because a delay of the host need not happen again.
long long event_next_spin(long long spin, bool late);

// Opens a clock that uses `events`, which must not move until event_clock_close. Returns false with a
// sentence when no event can be made; then there is nothing to close.
bool event_clock_open(event_pair *events, timing_clock *clock, error_text *error);
void event_clock_close(event_pair *events);

// Sleeps, as the `pause` of a clock. The context is not used.
void event_rest(void *context, double seconds);

#endif

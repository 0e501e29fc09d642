// A clock for work that is not enqueued on one stream, such as launches on several GPUs, or in several processes. Who
// measures it otherwise tells the clock its time, and how the GPUs are behind it.
#ifndef TOLD_CLOCK_H
#define TOLD_CLOCK_H

#include "timing/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

// A contender's launch writes this before it returns.
typedef struct {
  double milliseconds;
  monitor_reading state;                        // before the run as well, for the highest clock
  void (*pause)(void *context, double seconds); // NULL: none; it is given this structure
} told_time;

// Returns a clock that gives what `told` holds, which must not move while the clock is used.
timing_clock told_clock(told_time *told);

#ifdef __cplusplus
}
#endif

#endif

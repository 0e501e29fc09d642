// A clock for work that is not enqueued on one stream, such as launches on several GPUs, or in several processes. The
// launch measures its own time, and tells the clock this time and the state of the GPUs after it.
#ifndef TOLD_CLOCK_H
#define TOLD_CLOCK_H

#include "timing/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

// A contender's launch writes this before it returns.
typedef struct {
  double milliseconds;
  monitor_reading state;                        // set before timing_run, too, for the highest clock
  void (*pause)(void *context, double seconds); // NULL: none; it is given this structure
} told_time;

// Returns a clock that gives what `told` holds, which must not move while the clock is used.
timing_clock told_clock(told_time *told);

#ifdef __cplusplus
}
#endif

#endif

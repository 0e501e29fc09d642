// Measures how long launches take on a GPU. Several contenders are timed in short bursts, in rounds of random
// order, on a cold cache, while the clock and the power are watched. README.md, beside this file, gives the
// reasons and shows in a few lines how to use it.
#ifndef TIMING_H
#define TIMING_H

#include "error/error.h"
#include "monitor/monitor.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TIMING_MOST_ROUNDS = 30, TIMING_MOST_LAUNCHES = 20 };

// The launches of one contender in one round. Such a burst is one run of the statistics, and its median
// counts as one number.
typedef struct {
  size_t place;    // in the order of the round: 0 for the first
  size_t launches; // 1 to TIMING_MOST_LAUNCHES
  double milliseconds[TIMING_MOST_LAUNCHES];
  double median;   // of those
  double graph_ms; // of a launch in a replayed graph: the median of the replays; NaN without one
  monitor_reading state; // when the last launch had ended
  bool throttled;        // the GPU was held back, or its clock had dropped
} timing_burst;

typedef struct {
  const char *name; // for errors
  // Enqueues one launch on `stream`, on the buffers of number `rotation`.
  cudaError_t (*launch)(void *context, size_t rotation, cudaStream_t stream);
  void *context;
  timing_burst *bursts; // out: room for TIMING_MOST_ROUNDS; that of number i is of round i
  size_t rounds;        // out: how many there are
  const char *failure;  // out: why it could not be timed; NULL when it was
  bool no_buffers;      // it reads none, so that its launches leave the turn to the next contender
} timing_contender;

// The functions that read the time and the GPU's state. `start` marks the beginning of the work that is
// enqueued next. `stop` marks its end, waits for it, and gives the time between the two and whether this time
// contains no delay by the host. If it does, the launch is timed again. `read` and `pause` may be NULL, which
// means no state and no pause.
typedef struct {
  cudaError_t (*start)(void *context, cudaStream_t stream);
  cudaError_t (*stop)(void *context, cudaStream_t stream, float *milliseconds, bool *in_time);
  monitor_reading (*read)(void *context);
  void (*pause)(void *context, double seconds);
  void *context;
} timing_clock;

typedef struct {
  size_t rounds_least; // of each contender; TIMING_MOST_ROUNDS is the most
  size_t rounds_most;
  double seconds_least; // a contender has enough rounds after this measured time on the GPU,
  double noise; // or when half its 95 % interval was at most this part of the median in five
                // rounds in a row
  double
      seconds_most; // a contender whose next burst would go beyond this takes part no longer; 0: none
  double burst_ms;           // of one burst: as many launches as fill it, at least one
  double graph_below_ms;     // shorter launches are timed in a replayed graph as well; 0: none
  size_t warm_up;            // launches of each contender that are not kept, at least one
  size_t rotations;          // sets of buffers; timing_rotations gives the number, 1 for a warm L2
  uint64_t seed;             // of the orders; 0: another one in each run
  bool quiet;                // draws no progress
  const timing_clock *clock; // NULL for CUDA events, NVML and the system's sleep
} timing_plan;

// Returns a plan of 10 to 30 rounds with bursts of 15 ms, until each contender was measured for half a second
// or its noise was at most 0.5 % in five rounds in a row. It uses one set of buffers, times launches below 0.05
// ms in graphs as well, and gives a contender at most 10 seconds.
timing_plan timing_default_plan(void);

// Returns the number of sets of buffers, of `bytes` each, for which all sets but one are together at least
// twice as large as the L2 cache. Between two uses of a set, that much data has gone through the cache.
// Returns 1 for a cache of 0.
size_t timing_rotations(size_t bytes, size_t l2_bytes);

// Times all contenders in rounds. In each round every contender has one burst, in a new random order. Each
// launch of any contender takes the next set of buffers. A contender that has enough rounds, or that
// `seconds_most` ends, takes no part in later ones. A contender whose launches wait for the GPU is not an error: its
// `failure` says so, its `rounds` is 0, and the others are timed. Returns false with a sentence when a launch fails or
// memory runs out.
bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error);

#ifdef __cplusplus
}
#endif

#endif

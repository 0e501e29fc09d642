// How long launches take on a GPU: several contenders, in short bursts, in rounds whose order is drawn
// anew, on a cold cache, with the clock and the power watched. README.md, beside this file, says why, and
// shows the use of it in a few lines.
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

// What one contender did in one round. Such a burst is one run: its median is one number.
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

// What reads the time and the GPU's state. `start` marks the beginning of what is enqueued next; `stop`
// marks its end, waits for that and tells the time between the two, and whether it holds none of the
// host's: if not, the launch is taken again. NULL for `read` and `pause` stands for no state and no pause.
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
  double seconds_least; // of the GPU, measured, for each contender: then its rounds are enough,
  double noise;         // or when half its 95 % interval is at most this part of its median
  double
      seconds_most; // a contender whose next burst would go beyond this takes part no longer; 0: none
  double burst_ms; // of one burst: as many launches as fill it, at least one
  double
      graph_below_ms; // launches shorter than this are timed in a replayed graph as well; 0: none
  size_t warm_up;     // launches of each contender that are not timed
  size_t rotations;   // sets of buffers; timing_rotations gives the number, 1 for a warm L2
  uint64_t seed;      // of the orders; 0: another one in each run
  bool quiet;         // draws no progress
  const timing_clock *clock; // NULL for CUDA events, NVML and the system's sleep
} timing_plan;

// 10 to 30 rounds of bursts of 15 ms, until each contender was measured for half a second or its noise is
// at most 0.5 %, on one set of buffers; graphs below 0.05 ms; a contender takes at most 10 seconds.
timing_plan timing_default_plan(void);

// Sets of buffers, each of `bytes`, so that all but one of them hold at least twice the L2 cache: between
// two uses of a set, that much has gone through the cache. 1 for a cache of 0.
size_t timing_rotations(size_t bytes, size_t l2_bytes);

// Times all contenders in rounds: in each, every contender has one burst, in an order drawn anew. Each
// launch, whichever contender's it is, takes the next set of buffers. All contenders have the same rounds,
// but for one that `seconds_most` ends. One whose launches wait for the GPU is no error: its `failure` says
// so, and the others are timed. False with a sentence when a launch fails.
bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error);

#ifdef __cplusplus
}
#endif

#endif

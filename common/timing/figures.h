// The bursts of a contender, summarised in the few numbers that a record holds.
#ifndef TIMING_FIGURES_H
#define TIMING_FIGURES_H

#include "statistics/summary.h"
#include "timing/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

// A number that is not known is NaN, and so is every number computed from it.
typedef struct {
  statistics_summary times; // milliseconds of a launch
  statistics_summary graph; // the same in a replayed graph; runs is 0 without one
  size_t throttled_rounds;  // of times.runs
  double sm_clock_mhz;      // median over the rounds, at the end of the bursts
  double power_w;           // likewise
} timing_figures;

// Summarises the rounds of a contender that timing_run has timed.
timing_figures timing_figure(const timing_contender *contender);

// Returns true when the GPU was throttled in at least half of the rounds.
bool timing_throttled(const timing_figures *figures);

// Returns how many times as long a's launches take as b's, from the rounds that both have.
statistics_ratio timing_ratio(const timing_contender *a, const timing_contender *b);

#ifdef __cplusplus
}
#endif

#endif

// A run of the bench: its steps and shapes, and which of their measurements are still missing.
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include "bench/estimate.h"
#include "bench/options.h"
#include "bench/results.h"
#include "measure/measure.h"

enum { SESSION_STEPS = ESTIMATE_STEPS };

typedef struct {
  device_info device;
  bench_options options;
  size_t count; // of steps
  attention_step steps[SESSION_STEPS];
  size_t cells;
  attention_shape shapes[GRID_MOST];
  measure_plan plan;
  record_folder folder;
  const char *name; // of the record
  results results;
  estimate estimate;
  size_t failed;      // rows
  bool launch_failed; // which ended the bench
} bench_session;

// Finds the numbers of the steps that must be measured on the shape, and returns how many there are. If one
// step has no row, these are all steps, because they are compared by pairs of one round.
size_t session_missing(const bench_session *s, const attention_shape *shape,
                       size_t missing[SESSION_STEPS]);

// Returns the number of cells in which a step is missing.
size_t session_cells_left(const bench_session *s);

// Returns the estimated seconds for the cells from number `first` on.
double session_time_left(const bench_session *s, size_t first);

#endif

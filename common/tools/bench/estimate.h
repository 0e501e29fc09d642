// Estimates how long the rest of the grid will take, from the times of the cells so far.
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "attention.h"
#include "timing/timing.h"

enum { ESTIMATE_STEPS = 64 };

typedef struct {
  double
      rates[ESTIMATE_STEPS]; // operations a second of each step, in the last cell; 0 when unknown
  double overhead;           // seconds of a cell beside the timing, of all cells so far
  size_t cells;
} estimate;

// Returns the seconds that the plan gives the step for this shape, which are the warm-up and the least number
// of rounds; 0 while its rate is unknown.
double estimate_timing(const estimate *estimate, const timing_plan *plan, size_t step,
                       const attention_shape *shape);

// Records that a launch of the step took so many milliseconds.
void estimate_learn(estimate *estimate, size_t step, const attention_shape *shape,
                    double milliseconds);

// Records that a cell took so many seconds, `timing` of them in timed launches and warm-up.
void estimate_learn_cell(estimate *estimate, double seconds, double timing);

// Returns the seconds of a cell in which the given steps are measured; `steps` [count] are their numbers.
double estimate_cell(const estimate *estimate, const timing_plan *plan, const size_t *steps,
                     size_t count, const attention_shape *shape);

#endif

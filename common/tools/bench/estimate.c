#include "bench/estimate.h"

#include "shape/shape.h"
#include <math.h>

double estimate_timing(const estimate *estimate, const timing_plan *plan, size_t step,
                       const attention_shape *shape) {
  if (!(estimate->rates[step] > 0)) return 0;
  const double each = shape_operations(shape) / estimate->rates[step];
  const double launches = fmin(TIMING_MOST_LAUNCHES, fmax(1, ceil(1e-3 * plan->burst_ms / each)));
  const double burst = launches * each;
  const double most =
      plan->seconds_most > 0 ? fmax(1, floor(plan->seconds_most / burst)) : HUGE_VAL;
  return fmax(each, fmin(0.1, (double)plan->warm_up * each)) +
         burst * fmin(most, (double)plan->rounds_least);
}

void estimate_learn(estimate *estimate, size_t step, const attention_shape *shape,
                    double milliseconds) {
  estimate->rates[step] = shape_operations(shape) / (milliseconds * 1e-3);
}

void estimate_learn_cell(estimate *estimate, double seconds, double timing) {
  estimate->overhead += fmax(0, seconds - timing);
  estimate->cells++;
}

double estimate_cell(const estimate *estimate, const timing_plan *plan, const size_t *steps,
                     size_t count, const attention_shape *shape) {
  double seconds = estimate->cells > 0 ? estimate->overhead / (double)estimate->cells : 0;
  for (size_t i = 0; i < count; i++) seconds += estimate_timing(estimate, plan, steps[i], shape);
  return seconds;
}

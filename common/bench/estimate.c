#include "bench/estimate.h"

#include "shape/shape.h"
#include <math.h>

// Launches of `each` seconds that fit into `seconds`, from `least` to `most`.
static double launches(double seconds, double each, double least, double most) {
  const double fit = seconds > 0 ? ceil(seconds / each) : most;
  return fmin(most, fmax(least, fit));
}

double estimate_timing(const estimate *estimate, const measure_plan *plan, size_t step,
                       const attention_shape *shape) {
  if (!(estimate->rates[step] > 0)) return 0;
  const double each = shape_operations(shape) / estimate->rates[step];
  return each * (launches(plan->seconds / 10, each, 1, (double)plan->warm_up) +
                 launches(plan->seconds, each, (double)plan->least_samples, (double)plan->samples));
}

void estimate_learn(estimate *estimate, size_t step, const attention_shape *shape,
                    double milliseconds) {
  estimate->rates[step] = shape_operations(shape) / (milliseconds * 1e-3);
}

void estimate_learn_cell(estimate *estimate, double seconds, double timing) {
  estimate->overhead += fmax(0, seconds - timing);
  estimate->cells++;
}

double estimate_cell(const estimate *estimate, const measure_plan *plan, const size_t *steps,
                     size_t count, const attention_shape *shape) {
  double seconds = estimate->cells > 0 ? estimate->overhead / (double)estimate->cells : 0;
  for (size_t i = 0; i < count; i++) seconds += estimate_timing(estimate, plan, steps[i], shape);
  return seconds;
}

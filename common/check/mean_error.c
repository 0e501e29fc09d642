#include "check/mean_error.h"

#include <math.h>

// The elements of a row share the errors of its probabilities, so that many rows are needed as well.
enum { LEAST_ELEMENTS = 1000, LEAST_ROWS = 16 };

void mean_error_add(mean_error *mean, double error, double expected) {
  // Each of them is judged alone anyway. The squares of smaller numbers are none in float32, of which `expected` is made.
  const double smallest = 1e-15;
  if (!isfinite(error) || !(expected >= smallest)) return;
  mean->elements++;
  mean->squares += error / expected * (error / expected);
}

double mean_error_root(const mean_error *mean) {
  if (mean->elements < LEAST_ELEMENTS || mean->rows < LEAST_ROWS) return 0;
  return sqrt(mean->squares / (double)mean->elements);
}

// The root mean square of errors, each as a part of what it may be in the mean (reference/allowance.h). A fault that makes
// all errors a little larger shows here, where every one of them is still allowed.
#ifndef MEAN_ERROR_H
#define MEAN_ERROR_H

#include <stddef.h>

typedef struct {
  size_t rows, elements;
  double squares;
} mean_error;

// Adds an element. The caller counts the rows.
void mean_error_add(mean_error *mean, double error, double expected);

// Returns the root, or 0 where there are too few elements or rows to tell. A few errors may all be large by chance.
double mean_error_root(const mean_error *mean);

#endif

// For tests of steps that are compiled in one element type for each head_dim, as planted bugs are (LAB_ONE_TYPE in
// common/kernel/kernel.cuh). A step that is compiled in both never says that its build leaves one out.
#ifndef TESTS_LEFT_OUT_H
#define TESTS_LEFT_OUT_H

#include "kernel/left_out.h"
#include "step/step.h"
#include <stdbool.h>
#include <string.h>

// Tells whether a step refuses a shape for that reason alone; `reason` is what it says of the shape, or NULL.
static inline bool left_out(const char *reason) {
  return reason && strcmp(reason, LEFT_OUT_BY_THE_BUILD) == 0;
}

// Returns the shape, or where the build leaves its element type out the same shape of the other type.
static inline attention_shape shape_in_the_build(const attention_step *step,
                                                 attention_shape shape) {
  if (left_out(step->unsupported(&shape)))
    shape.dtype = shape.dtype == ATTENTION_FP16 ? ATTENTION_BF16 : ATTENTION_FP16;
  return shape;
}

#endif

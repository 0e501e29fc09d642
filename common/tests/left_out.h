// For tests of steps that are compiled in one element type for each head_dim, as planted bugs are (LAB_ONE_TYPE in
// common/kernel/kernel.cuh), and of configurations that the reader has named (LAB_CONFIG), which may have no room for a
// head_dim or on a GPU. A step that is compiled in both types and chooses its configuration never refuses for these reasons.
#ifndef TESTS_LEFT_OUT_H
#define TESTS_LEFT_OUT_H

#include "kernel/left_out.h"
#include "step/step.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Tells whether a step refuses a shape for such a reason alone; `reason` is what it says of the shape, or NULL.
static inline bool left_out(const char *reason) {
  const char *named = getenv("LAB_CONFIG");
  const bool no_room = reason && named && *named && strstr(reason, "this configuration ") == reason;
  return no_room || (reason && strcmp(reason, LEFT_OUT_BY_THE_BUILD) == 0);
}

// Returns the shape, or where the build leaves its element type out the same shape of the other type.
static inline attention_shape shape_in_the_build(const attention_step *step,
                                                 attention_shape shape) {
  if (left_out(step->unsupported(&shape)))
    shape.dtype = shape.dtype == ATTENTION_FP16 ? ATTENTION_BF16 : ATTENTION_FP16;
  return shape;
}

#endif

// Which lane holds which element of a matrix, and where: the register layout of the GPUs from compute
// capability 8.0 on.
#ifndef FRAGMENT_LAYOUT_H
#define FRAGMENT_LAYOUT_H

#include "tensor_core.h"

// Elements come in pairs, two neighbours along the inner dimension: x[2 p] and x[2 p + 1] of a lane
// have
//   outer index  lane / 4     + pair[p].outer
//   inner index  lane % 4 * 2 + pair[p].inner, and one more
// The inner dimension of A and B is k, 16 long. Its opposite is the outer one.
typedef struct {
  unsigned outer, inner;
} fragment_pair;

typedef struct {
  const fragment_pair *pair;
  unsigned pairs;    // that differ; where x[] is longer it holds them again, as often as they fit
  bool outer_is_row; // else the outer index is the column
} fragment_layout;

fragment_layout fragment_layout_of(const emulator_fragment_type *type);

#endif

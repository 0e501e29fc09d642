// Which lane holds which element of a matrix, and where: the register layout of the GPUs from compute
// capability 8.0 on.
#ifndef FRAGMENT_LAYOUT_H
#define FRAGMENT_LAYOUT_H

#include "tensor_core.h"

#include <stddef.h>

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

// Where a lane's pair number `pair` is in memory, in elements: from the matrix's start to the first of
// the two, and from there to the second.
typedef struct {
  size_t first, step;
} fragment_place;

static inline fragment_place fragment_place_of(const fragment_layout *layout, unsigned lane,
                                               unsigned pair, size_t leading_dimension,
                                               bool column_major) {
  const size_t outer = lane / 4 + layout->pair[pair].outer;
  const size_t inner = lane % 4 * 2 + layout->pair[pair].inner;
  if (layout->outer_is_row != column_major) {
    return (fragment_place){outer * leading_dimension + inner, 1};
  }
  return (fragment_place){inner * leading_dimension + outer, leading_dimension};
}

#endif

// Stand-in for CUDA's <cooperative_groups/scan.h>: sums and the like over the lanes before.
#ifndef COOPERATIVE_GROUPS_SCAN_H
#define COOPERATIVE_GROUPS_SCAN_H
#include "../detail/own_letters.h"

#include "reduce.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operator = plus<T>>
T inclusive_scan(const Group &group, T value, Operator operation = {}, EMULATOR_CALL_SITE) {
  const unsigned own = static_cast<unsigned>(group.thread_rank());
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T before = group.shfl_up(value, step, file, line);
    if (own >= step) value = operation(before, value);
  }
  return value;
}

// The first lane gets T(), which is what CUDA's plus<T> gives; for other operations it means nothing.
template <typename Group, typename T, typename Operator = plus<T>>
T exclusive_scan(const Group &group, T value, Operator operation = {}, EMULATOR_CALL_SITE) {
  const T inclusive = inclusive_scan(group, value, operation, file, line);
  const T before = group.shfl_up(inclusive, 1, file, line);
  return group.thread_rank() == 0 ? T() : before;
}

} // namespace cooperative_groups

#include "../detail/own_letters_end.h"

#endif

// Stand-in for CUDA's <cooperative_groups/reduce.h>: sums and the like over the lanes of a group.
#ifndef COOPERATIVE_GROUPS_REDUCE_H
#define COOPERATIVE_GROUPS_REDUCE_H
#include "../detail/own_letters.h"

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define EMULATOR_OPERATOR(name, expression)                                                        \
  template <typename T = void>                                                                     \
  struct name {                                                                                    \
    T operator()(T a, T b) const { return expression; }                                            \
  };                                                                                               \
  template <>                                                                                      \
  struct name<void> {                                                                              \
    template <typename T>                                                                          \
    T operator()(T a, T b) const {                                                                 \
      return expression;                                                                           \
    }                                                                                              \
  };
EMULATOR_OPERATOR(plus, a + b)
EMULATOR_OPERATOR(less, (b < a ? b : a))
EMULATOR_OPERATOR(greater, (a < b ? b : a))
EMULATOR_OPERATOR(bit_and, a &b)
EMULATOR_OPERATOR(bit_or, a | b)
EMULATOR_OPERATOR(bit_xor, a ^ b)
#undef EMULATOR_OPERATOR

// Every lane adds up in the same order of ranks, in halves as on a GPU, and all get the same result.
template <typename Group, typename T, typename Operator>
T reduce(const Group &group, T value, Operator operation, EMULATOR_CALL_SITE) {
  const unsigned size = static_cast<unsigned>(group.size());
  const unsigned own = static_cast<unsigned>(group.thread_rank());
  unsigned half = 1;
  while (2 * half < size) half *= 2;
  for (; half > 0; half /= 2) {
    const T other = group.shfl(value, own + half < size ? own + half : own, file, line);
    if (own < half && own + half < size) value = operation(value, other);
  }
  return group.shfl(value, 0, file, line);
}

// Of a tile of several warps its first thread adds up.
template <unsigned Size, typename T, typename Operator>
T reduce(const warps_tile<Size> &tile, T value, Operator operation, EMULATOR_CALL_SITE) {
  const unsigned first = detail::thread_number() / Size * Size;
  emulator_offer_value(&value);
  tile.sync(file, line);
  for (unsigned i = 1; tile.thread_rank() == 0 && i < Size; i++) {
    T other;
    emulator_offered_value(first + i, static_cast<void *>(&other), sizeof other);
    value = operation(value, other);
  }
  tile.sync(file, line);
  T sum;
  emulator_offered_value(first, static_cast<void *>(&sum), sizeof sum);
  tile.sync(file, line);
  return sum;
}
template <unsigned Size, typename Parent, typename T, typename Operator>
std::enable_if_t<(Size > 32), T> reduce(const thread_block_tile<Size, Parent> &tile, T value,
                                        Operator operation, EMULATOR_CALL_SITE) {
  return reduce(static_cast<const warps_tile<Size> &>(tile), value, operation, file, line);
}

template <typename Group, typename Atomic, typename T, typename Operator>
void reduce_update(const Group &group, Atomic &atomic, T value, Operator operation,
                   EMULATOR_CALL_SITE) {
  const T sum = reduce(group, value, operation, file, line);
  if (group.thread_rank() == 0) atomic.fetch_add(sum);
}

} // namespace cooperative_groups

#include "../detail/own_letters_end.h"

#endif

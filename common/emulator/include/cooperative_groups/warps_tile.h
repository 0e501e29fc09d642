// Tiles of more than 32 threads. Included by <cooperative_groups.h>, whose functions for a block's threads it uses.
#ifndef COOPERATIVE_GROUPS_WARPS_TILE_H
#define COOPERATIVE_GROUPS_WARPS_TILE_H
#include "../detail/own_letters.h"

#include "barriers.h"

namespace cooperative_groups {

// A tile of several warps. Where it is not the whole block, it waits at a named barrier of its own.
template <unsigned Size>
class warps_tile {
public:
  void sync(EMULATOR_CALL_SITE) const {
    const emulator_site site = {"tile.sync()", file, line};
    if (detail::block_threads() <= Size)
      __syncthreads(file, line);
    else
      emulator_named_barrier_wait(1 + static_cast<int>(meta_group_rank()), Size, &site);
  }
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return detail::thread_number() % Size; }
  static unsigned meta_group_rank() { return detail::thread_number() / Size; }
  static unsigned meta_group_size() { return (detail::block_threads() + Size - 1) / Size; }
  template <typename T>
  T shfl(T value, unsigned source, EMULATOR_CALL_SITE) const {
    emulator_offer_value(&value);
    sync(file, line);
    T result;
    emulator_offered_value(meta_group_rank() * Size + source % Size, static_cast<void *>(&result),
                           sizeof(T));
    sync(file, line);
    return result;
  }
  int any(int predicate, EMULATOR_CALL_SITE) const { return count(predicate, file, line) > 0; }
  int all(int predicate, EMULATOR_CALL_SITE) const {
    return count(predicate, file, line) == static_cast<int>(Size);
  }

private:
  int count(int predicate, const char *file, int line) const {
    int sum = 0;
    emulator_offer_value(&predicate);
    sync(file, line);
    for (unsigned i = 0; i < Size; i++) {
      int other;
      emulator_offered_value(meta_group_rank() * Size + i, &other, sizeof other);
      sum += other != 0;
    }
    sync(file, line);
    return sum;
  }
};

} // namespace cooperative_groups

#include "../detail/own_letters_end.h"

#endif

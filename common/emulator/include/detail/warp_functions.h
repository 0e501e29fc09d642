// Shuffles, votes, matches and reductions of a warp (CUDA C++ Programming Guide, "Warp Vote
// Functions", "Warp Match Functions", "Warp Reduce Functions", "Warp Shuffle Functions").
#ifndef EMULATOR_DETAIL_WARP_FUNCTIONS_H
#define EMULATOR_DETAIL_WARP_FUNCTIONS_H

#include "synchronization.h"

#include <type_traits>

namespace emulator {

// The types that CUDA can shuffle; the headers of the 16-bit formats add theirs.
template <typename T>
inline constexpr bool can_shuffle = std::is_arithmetic_v<T>;

inline unsigned lane_index() { return emulator_current->lane; }

template <typename T>
T shuffle(unsigned mask, const T &value, int source_lane, int width, const emulator_site &site) {
  static_assert(can_shuffle<T>, "CUDA shuffles numbers of 2, 4 and 8 bytes: split other types");
  if (width < 1 || width > warpSize || (width & (width - 1)) != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: width %d is not a power of two from 1 to 32", site.operation,
                   site.file, site.line, width);
  }
  T result;
  emulator_shuffle(mask, &value, &result, sizeof(T), static_cast<unsigned>(source_lane), &site);
  return result;
}

// The first lane of the calling lane's segment of `width` lanes.
inline int segment_start(int width) { return static_cast<int>(lane_index()) & ~(width - 1); }

} // namespace emulator

template <typename T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize, EMULATOR_CALL_SITE) {
  const int source = emulator::segment_start(width) + (source_lane & (width - 1));
  return emulator::shuffle(mask, value, source, width, {"__shfl_sync()", file, line});
}

// A GPU takes the lowest five bits of `delta` alone (PTX ISA, "shfl.sync"), so 32 lanes further is the lane itself, and 33
// its neighbour.
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, EMULATOR_CALL_SITE) {
  const int lane = static_cast<int>(emulator::lane_index());
  const int source = lane - static_cast<int>(delta % warpSize);
  const int from = source >= emulator::segment_start(width) ? source : lane;
  return emulator::shuffle(mask, value, from, width, {"__shfl_up_sync()", file, line});
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   EMULATOR_CALL_SITE) {
  const int lane = static_cast<int>(emulator::lane_index());
  const int source = lane + static_cast<int>(delta % warpSize);
  const int from = source < emulator::segment_start(width) + width ? source : lane;
  return emulator::shuffle(mask, value, from, width, {"__shfl_down_sync()", file, line});
}

// A lane may read from its own segment and earlier ones, not from later ones.
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize, EMULATOR_CALL_SITE) {
  const int lane = static_cast<int>(emulator::lane_index());
  const int source = (lane ^ lane_mask) & (warpSize - 1);
  const int from = source < emulator::segment_start(width) + width ? source : lane;
  return emulator::shuffle(mask, value, from, width, {"__shfl_xor_sync()", file, line});
}

inline unsigned __ballot_sync(unsigned mask, int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__ballot_sync()", file, line};
  return emulator_ballot(mask, predicate, &site);
}

inline int __any_sync(unsigned mask, int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__any_sync()", file, line};
  return emulator_ballot(mask, predicate, &site) != 0;
}

inline int __all_sync(unsigned mask, int predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__all_sync()", file, line};
  return emulator_ballot(mask, !predicate, &site) == 0;
}

inline unsigned __activemask(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__activemask()", file, line};
  return emulator_active_mask(&site);
}

namespace emulator {

// Values are compared by their bits, as the GPU does.
template <typename T>
uint64_t bits_of(T value) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "CUDA matches numbers of 4 and 8 bytes");
  uint64_t bits = 0;
  (__builtin_memcpy)(&bits, &value, sizeof value);
  return bits;
}

} // namespace emulator

template <typename T>
unsigned __match_any_sync(unsigned mask, T value, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__match_any_sync()", file, line};
  return emulator_match_any(mask, emulator::bits_of(value), &site);
}

template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int *predicate, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__match_all_sync()", file, line};
  return emulator_match_all(mask, emulator::bits_of(value), predicate, &site);
}

#define EMULATOR_REDUCE(name, Type, reduction)                                                     \
  inline Type name(unsigned mask, Type value, EMULATOR_CALL_SITE) {                                \
    const emulator_site site = {#name "()", file, line};                                           \
    return static_cast<Type>(                                                                      \
        emulator_reduce(mask, reduction, static_cast<unsigned>(value), &site));                    \
  }
EMULATOR_REDUCE(__reduce_add_sync, int, EMULATOR_REDUCE_ADD)
EMULATOR_REDUCE(__reduce_add_sync, unsigned, EMULATOR_REDUCE_ADD)
EMULATOR_REDUCE(__reduce_min_sync, int, EMULATOR_REDUCE_MIN_SIGNED)
EMULATOR_REDUCE(__reduce_min_sync, unsigned, EMULATOR_REDUCE_MIN_UNSIGNED)
EMULATOR_REDUCE(__reduce_max_sync, int, EMULATOR_REDUCE_MAX_SIGNED)
EMULATOR_REDUCE(__reduce_max_sync, unsigned, EMULATOR_REDUCE_MAX_UNSIGNED)
EMULATOR_REDUCE(__reduce_and_sync, unsigned, EMULATOR_REDUCE_AND)
EMULATOR_REDUCE(__reduce_or_sync, unsigned, EMULATOR_REDUCE_OR)
EMULATOR_REDUCE(__reduce_xor_sync, unsigned, EMULATOR_REDUCE_XOR)
#undef EMULATOR_REDUCE

#endif

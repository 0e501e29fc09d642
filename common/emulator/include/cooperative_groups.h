// Stand-in for CUDA's <cooperative_groups.h> (CUDA C++ Programming Guide, "Cooperative Groups"): blocks, tiles of a
// warp and of several, the lanes that are together, clusters of blocks, and the grid of a cooperative launch. Several
// GPUs are not here.
#ifndef COOPERATIVE_GROUPS_H
#define COOPERATIVE_GROUPS_H
#include "detail/own_letters.h"

#include "cuda_runtime.h"

#include "detail/intrinsics.h"

#include <type_traits>

namespace cooperative_groups {

namespace detail {

inline unsigned thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned cluster_blocks() {
  const dim3 blocks = emulator_current->block->cluster_dim;
  return blocks.x * blocks.y * blocks.z;
}
inline void cluster_sync(const char *file, int line) {
  const emulator_site site = {"cluster.sync()", file, line};
  emulator_cluster_barrier(&site);
}
inline unsigned lanes_below(unsigned mask, unsigned lane) {
  return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane) - 1)));
}
// Returns the lane of bit number `rank` among those that are set in the mask.
inline unsigned lane_of_rank(unsigned mask, unsigned rank) {
  for (; rank > 0 && mask != 0; rank--) mask &= mask - 1;
  return mask == 0 ? 0 : static_cast<unsigned>(__builtin_ctz(mask));
}

template <typename T>
T shuffle(unsigned mask, const T &value, unsigned source_lane, const char *name, const char *file,
          int line) {
  const emulator_site site = {name, file, line};
  T result;
  emulator_shuffle(mask, &value, static_cast<void *>(&result), sizeof(T), source_lane, &site);
  return result;
}

} // namespace detail
} // namespace cooperative_groups

#include "cooperative_groups/warps_tile.h"

namespace cooperative_groups {

// Any group: of one thread, of lanes of a warp, of a block, of a cluster or of the grid.
class thread_group {
public:
  void sync(EMULATOR_CALL_SITE) const {
    if (kind == of_block) __syncthreads(file, line);
    if (kind == of_lanes) __syncwarp(mask, file, line);
    if (kind == of_cluster) detail::cluster_sync(file, line);
    if (kind == of_grid) {
      const emulator_site site = {"grid.sync()", file, line};
      emulator_grid_barrier(&site);
    }
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long num_threads() const {
    if (kind == of_block) return detail::block_threads();
    if (kind == of_cluster) return detail::cluster_blocks() * detail::block_threads();
    if (kind == of_grid)
      return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z *
             detail::block_threads();
    return kind == of_lanes ? static_cast<unsigned>(__builtin_popcount(mask)) : 1;
  }
  unsigned long long thread_rank() const {
    if (kind == of_block) return detail::thread_number();
    if (kind == of_cluster)
      return emulator_current->block->cluster_rank * detail::block_threads() +
             detail::thread_number();
    if (kind == of_grid)
      return (blockIdx.x +
              gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z)) *
                 detail::block_threads() +
             detail::thread_number();
    return kind == of_lanes ? detail::lanes_below(mask, emulator_current->lane) : 0;
  }
  bool is_valid() const { return true; }

protected:
  enum group_kind { of_one_thread, of_lanes, of_block, of_cluster, of_grid };
  constexpr thread_group(group_kind kind, unsigned mask = 1) : kind(kind), mask(mask) {}
  group_kind kind;
  unsigned mask; // the lanes, of a group of lanes

  friend thread_group this_thread();
  friend thread_group tiled_partition(const thread_group &, unsigned);
};

inline thread_group this_thread() { return thread_group(thread_group::of_one_thread); }

class thread_block : public thread_group {
public:
  constexpr thread_block() : thread_group(of_block) {}
  static void sync(EMULATOR_CALL_SITE) { __syncthreads(file, line); }
  static unsigned size() { return detail::block_threads(); }
  static unsigned num_threads() { return detail::block_threads(); }
  static unsigned thread_rank() { return detail::thread_number(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  struct arrival_token {};
  // The emulator's barrier of a block is in one piece: an arrival waits as well.
  arrival_token barrier_arrive(EMULATOR_CALL_SITE) const {
    __syncthreads(file, line);
    return {};
  }
  void barrier_wait(arrival_token &&) const {}
};
inline thread_block this_thread_block() { return thread_block(); }
// The memory by which large tiles exchange values on a GPU; the emulator needs none.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  char unused;
};
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
  return thread_block();
}

class grid_group : public thread_group {
public:
  constexpr grid_group() : thread_group(of_grid) {}
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return blockIdx.x +
           gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
};
inline grid_group this_grid() { return grid_group(); }

} // namespace cooperative_groups

#include "cooperative_groups/cluster.h"

namespace cooperative_groups {

// Lanes of one warp: what tiles and coalesced groups share.
class coalesced_group : public thread_group {
public:
  explicit constexpr coalesced_group(unsigned lanes, unsigned rank = 0, unsigned groups = 1)
      : thread_group(of_lanes, lanes), rank(rank), groups(groups) {}

  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return detail::lanes_below(mask, emulator_current->lane); }
  unsigned meta_group_rank() const { return rank; }
  unsigned meta_group_size() const { return groups; }

  template <typename T>
  T shfl(T value, unsigned source, EMULATOR_CALL_SITE) const {
    return detail::shuffle(mask, value, detail::lane_of_rank(mask, source % size()), "shfl()", file,
                           line);
  }
  template <typename T>
  T shfl_up(T value, unsigned delta, EMULATOR_CALL_SITE) const {
    const unsigned own = thread_rank(), from = own >= delta ? own - delta : own;
    return detail::shuffle(mask, value, detail::lane_of_rank(mask, from), "shfl_up()", file, line);
  }
  template <typename T>
  T shfl_down(T value, unsigned delta, EMULATOR_CALL_SITE) const {
    const unsigned own = thread_rank(), from = own + delta < size() ? own + delta : own;
    return detail::shuffle(mask, value, detail::lane_of_rank(mask, from), "shfl_down()", file,
                           line);
  }
  template <typename T>
  T shfl_xor(T value, unsigned lanes, EMULATOR_CALL_SITE) const {
    const unsigned own = thread_rank(), from = (own ^ lanes) < size() ? own ^ lanes : own;
    return detail::shuffle(mask, value, detail::lane_of_rank(mask, from), "shfl_xor()", file, line);
  }
  int any(int predicate, EMULATOR_CALL_SITE) const {
    return __any_sync(mask, predicate, file, line);
  }
  int all(int predicate, EMULATOR_CALL_SITE) const {
    return __all_sync(mask, predicate, file, line);
  }
  unsigned ballot(int predicate, EMULATOR_CALL_SITE) const {
    return packed(__ballot_sync(mask, predicate, file, line));
  }
  template <typename T>
  unsigned match_any(T value, EMULATOR_CALL_SITE) const {
    return packed(__match_any_sync(mask, value, file, line));
  }
  template <typename T>
  unsigned match_all(T value, int &all_equal, EMULATOR_CALL_SITE) const {
    return packed(__match_all_sync(mask, value, &all_equal, file, line));
  }
  unsigned lanes() const { return mask; } // of the warp; not CUDA's

protected:
  // A bit for each rank, from bits for lanes.
  unsigned packed(unsigned of_lanes) const {
    unsigned result = 0, bit = 1;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1, bit <<= 1)
      if (of_lanes & rest & -rest) result |= bit;
    return result;
  }
  unsigned rank, groups;
};

inline coalesced_group coalesced_threads(EMULATOR_CALL_SITE) {
  return coalesced_group(__activemask(file, line));
}

// A tile of lanes of one warp.
template <unsigned Size>
class lanes_tile : public coalesced_group {
public:
  lanes_tile()
      : coalesced_group(
            (Size == 32 ? ~0u : (1u << Size % 32) - 1) << (emulator_current->lane & ~(Size - 1)),
            detail::thread_number() / Size, (detail::block_threads() + Size - 1) / Size) {}
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  unsigned thread_rank() const { return emulator_current->lane % Size; }
};

template <unsigned Size, typename Parent = void>
class thread_block_tile;

namespace detail {
// The threads of a group that is parted into tiles: of a tile, or of the block.
template <unsigned Size, typename Parent>
unsigned tile_threads(thread_block_tile<Size, Parent> *) {
  return Size;
}
inline unsigned tile_threads(void *) { return block_threads(); }
} // namespace detail

template <unsigned Size, typename Parent>
class thread_block_tile
    : public std::conditional_t<(Size <= 32), lanes_tile<Size>, warps_tile<Size>> {
  static_assert(Size > 0 && Size <= 1024 && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, ... or 1024 threads");

public:
  thread_block_tile() {
    const unsigned threads = detail::tile_threads(static_cast<Parent *>(nullptr));
    rank_in_parent = detail::thread_number() % threads / Size;
    tiles_of_parent = (threads + Size - 1) / Size;
  }
  template <typename Other>
  thread_block_tile(const thread_block_tile<Size, Other> &other)
      : rank_in_parent(other.meta_group_rank()), tiles_of_parent(other.meta_group_size()) {}

  // Among the tiles of the parent, which may be a tile itself.
  unsigned meta_group_rank() const { return rank_in_parent; }
  unsigned meta_group_size() const { return tiles_of_parent; }

private:
  unsigned rank_in_parent, tiles_of_parent;
};

template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<Size, Parent>();
}
// Of a size that is known at run time. A group of lanes is parted by ranks.
inline thread_group tiled_partition(const thread_group &parent, unsigned size) {
  unsigned mask = 0;
  const unsigned of_parent =
      parent.kind == thread_group::of_lanes ? parent.mask : ~0u >> (32 - warpSize);
  const unsigned own = detail::lanes_below(of_parent, emulator_current->lane) / size;
  unsigned rank = 0;
  for (unsigned rest = of_parent; rest != 0; rest &= rest - 1, rank++)
    if (rank / size == own) mask |= rest & -rest;
  return thread_group(thread_group::of_lanes, mask);
}
inline coalesced_group tiled_partition(const coalesced_group &parent, unsigned size) {
  const unsigned own = parent.thread_rank() / size;
  unsigned mask = 0, rank = 0;
  for (unsigned rest = parent.lanes(); rest != 0; rest &= rest - 1, rank++)
    if (rank / size == own) mask |= rest & -rest;
  return coalesced_group(mask, own, (parent.size() + size - 1) / size);
}

template <typename T>
coalesced_group labeled_partition(const coalesced_group &parent, T label, EMULATOR_CALL_SITE) {
  return coalesced_group(__match_any_sync(parent.lanes(), label, file, line));
}
inline coalesced_group binary_partition(const coalesced_group &parent, bool predicate,
                                        EMULATOR_CALL_SITE) {
  const unsigned with = __ballot_sync(parent.lanes(), predicate, file, line);
  return coalesced_group(predicate ? with : parent.lanes() & ~with, predicate ? 1 : 0, 2);
}

template <typename Group>
void sync(const Group &group, EMULATOR_CALL_SITE) {
  group.sync(file, line);
}
template <typename Group>
auto thread_rank(const Group &group) {
  return group.thread_rank();
}
template <typename Group>
auto group_size(const Group &group) {
  return group.size();
}
template <typename Group, typename Function, typename... Arguments>
void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments &&>(arguments)...);
}

} // namespace cooperative_groups

#include "cooperative_groups/reduce.h"

#include "detail/own_letters_end.h"

#endif

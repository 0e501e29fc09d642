// The clusters of <cooperative_groups.h> (CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared
// Memory").
#ifndef COOPERATIVE_GROUPS_CLUSTER_H
#define COOPERATIVE_GROUPS_CLUSTER_H
#include "../detail/own_letters.h"

namespace cooperative_groups {

// The blocks that run at the same time and reach each other's shared memory. Where the launch asks for no clusters,
// each block is one.
class cluster_group : public thread_group {
public:
  struct arrival_token {};

  constexpr cluster_group() : thread_group(of_cluster) {}
  static void sync(EMULATOR_CALL_SITE) { detail::cluster_sync(file, line); }
  static arrival_token barrier_arrive(EMULATOR_CALL_SITE) {
    const emulator_site site = {"cluster.barrier_arrive()", file, line};
    emulator_cluster_arrive(&site);
    return {};
  }
  static void barrier_wait(EMULATOR_CALL_SITE) {
    const emulator_site site = {"cluster.barrier_wait()", file, line};
    emulator_cluster_wait(&site);
  }
  static void barrier_wait(arrival_token &&, EMULATOR_CALL_SITE) { barrier_wait(file, line); }

  static unsigned block_rank() { return emulator_current->block->cluster_rank; }
  static dim3 block_index() { return emulator_current->block->cluster_place; }
  static dim3 dim_blocks() { return emulator_current->block->cluster_dim; }
  static unsigned num_blocks() { return detail::cluster_blocks(); }
  static unsigned thread_rank() {
    return block_rank() * detail::block_threads() + detail::thread_number();
  }
  static dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static unsigned num_threads() { return num_blocks() * detail::block_threads(); }
  static unsigned size() { return num_threads(); }

  // Distributed shared memory: where the block of that rank has what this block has at the address.
  template <typename T>
  static T *map_shared_rank(T *address, int rank, EMULATOR_CALL_SITE) {
    const emulator_site site = {"cluster.map_shared_rank()", file, line};
    return static_cast<T *>(
        emulator_cluster_map(const_cast<const void *>(static_cast<const volatile void *>(address)),
                             static_cast<unsigned>(rank), &site));
  }
  static unsigned query_shared_rank(const void *address, EMULATOR_CALL_SITE) {
    const emulator_site site = {"cluster.query_shared_rank()", file, line};
    return emulator_cluster_rank_of(address, &site);
  }
};
inline cluster_group this_cluster() { return cluster_group(); }

} // namespace cooperative_groups

#include "../detail/own_letters_end.h"

#endif

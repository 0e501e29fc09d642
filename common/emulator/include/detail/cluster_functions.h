// The functions on clusters below cooperative groups, which CUDA's own headers declare for compute capability 9.0.
#ifndef EMULATOR_DETAIL_CLUSTER_FUNCTIONS_H
#define EMULATOR_DETAIL_CLUSTER_FUNCTIONS_H

#include "emulator.h"

#include "synchronization.h"

// ---- Places -------------------------------------------------------------------------------------

inline unsigned __clusterDimIsSpecified() { return emulator_current->block->cluster_specified; }
inline dim3 __clusterDim() { return emulator_current->block->cluster_dim; }
inline dim3 __clusterRelativeBlockIdx() { return emulator_current->block->cluster_place; }
inline unsigned __clusterRelativeBlockRank() { return emulator_current->block->cluster_rank; }
inline unsigned __clusterSizeInBlocks() {
  const dim3 blocks = __clusterDim();
  return blocks.x * blocks.y * blocks.z;
}
inline dim3 __clusterGridDimInClusters() {
  const dim3 grid = emulator_current->block->grid_dim, blocks = __clusterDim();
  return dim3(grid.x / blocks.x, grid.y / blocks.y, grid.z / blocks.z);
}
inline dim3 __clusterIdx() {
  const uint3 block = emulator_current->block->block_index;
  const dim3 blocks = __clusterDim();
  return dim3(block.x / blocks.x, block.y / blocks.y, block.z / blocks.z);
}

// ---- The barrier --------------------------------------------------------------------------------

inline void __cluster_barrier_arrive(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__cluster_barrier_arrive()", file, line};
  emulator_cluster_arrive(&site);
}
inline void __cluster_barrier_arrive_relaxed(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__cluster_barrier_arrive_relaxed()", file, line};
  emulator_cluster_arrive_relaxed(&site);
}
inline void __cluster_barrier_wait(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__cluster_barrier_wait()", file, line};
  emulator_cluster_wait(&site);
}
// The sanitizer takes it for a fence for the whole device.
inline void __threadfence_cluster() { __threadfence(); }

// ---- Distributed shared memory ------------------------------------------------------------------

inline void *__cluster_map_shared_rank(const void *pointer, unsigned rank, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__cluster_map_shared_rank()", file, line};
  return emulator_cluster_map(pointer, rank, &site);
}
inline unsigned __cluster_query_shared_rank(const void *pointer, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__cluster_query_shared_rank()", file, line};
  return emulator_cluster_rank_of(pointer, &site);
}
inline unsigned __isCtaShared(const void *pointer) { return emulator_is_shared(pointer); }
inline unsigned __isClusterShared(const void *pointer) {
  return emulator_is_cluster_shared(pointer);
}

#endif

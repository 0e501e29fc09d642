// Distributed shared memory: whose shared memory an address is in, and where another block has the same variable.
#include "block.h"

#include "address_space.h"
#include "capability.h"
#include "fault.h"
#include "shared_memory.h"

static bool lies_in(const void *address, const void *start, size_t bytes) {
  return (uintptr_t)address - (uintptr_t)start < bytes;
}

char *cluster_static_shared(const worker *worker, const struct worker *block) {
  return block == worker ? block->static_shared : block->parked.start;
}

worker *cluster_owner(const worker *worker, const void *address) {
  const cluster *cluster = worker->cluster;
  for (unsigned rank = 0; rank < cluster->size; rank++) {
    struct worker *block = cluster->blocks[rank];
    if (shared_memory_holds(block, (uintptr_t)address) ||
        lies_in(address, cluster_static_shared(worker, block), worker->launch->static_shared_bytes))
      return block;
  }
  return NULL;
}

void *cluster_own_address(const worker *worker, const struct worker *block, const void *mapped) {
  const uintptr_t address = (uintptr_t)mapped;
  if (shared_memory_holds(block, address)) return (void *)address;
  return (char *)block->static_shared +
         ((const char *)mapped - cluster_static_shared(worker, block));
}

static worker *owner_or_fault(worker *worker, const void *pointer, const emulator_site *site) {
  struct worker *owner = cluster_owner(worker, pointer);
  if (owner == NULL) {
    emulator_fault(cudaErrorInvalidAddressSpace,
                   "%s in %s:%d: the pointer is not to shared memory but to %s", site->operation,
                   site->file, site->line, address_describe(worker, pointer).text);
  }
  return owner;
}

void *emulator_cluster_map(const void *pointer, unsigned rank, const emulator_site *site) {
  worker *worker = current_worker;
  const cluster *cluster = worker->cluster;
  capability_check(worker, 90, "clusters", site);
  if (rank >= cluster->size && cluster->size == 1) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: there is no block of rank %d, because each block is a cluster of "
                   "its own, as in each launch without cudaLaunchAttributeClusterDimension of a "
                   "kernel without __cluster_dims__",
                   site->operation, site->file, site->line, (int)rank);
  }
  if (rank >= cluster->size) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the cluster has no block of rank %d: its %u block%s the ranks "
                   "from 0 on",
                   site->operation, site->file, site->line, (int)rank, cluster->size,
                   cluster->size == 1 ? " has" : "s have");
  }
  struct worker *from = owner_or_fault(worker, pointer, site), *to = cluster->blocks[rank];
  if (shared_memory_holds(from, (uintptr_t)pointer))
    return (char *)to->block.dynamic_shared +
           ((const char *)pointer - (const char *)from->block.dynamic_shared);
  return cluster_static_shared(worker, to) +
         ((const char *)pointer - cluster_static_shared(worker, from));
}

unsigned emulator_cluster_rank_of(const void *pointer, const emulator_site *site) {
  return owner_or_fault(current_worker, pointer, site)->block.cluster_rank;
}

int emulator_is_cluster_shared(const void *pointer) {
  return cluster_owner(current_worker, pointer) != NULL;
}

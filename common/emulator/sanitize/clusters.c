// The barriers of clusters and of cooperative grids, and accesses to the shared memory of other blocks of a cluster.
// Such memory is certain to be there behind the first phase of the cluster's barrier, because all blocks have begun
// then, and before its block ends (CUDA C++ Programming Guide, "Distributed Shared Memory"). So each access must come
// behind one phase and before another one, for which a thread of the memory's block waits: that it happens to be in
// time is not enough.
#define _GNU_SOURCE
#include "clusters.h"

#include <stdio.h>
#include <string.h>

// [q][r]: the last access of the block of rank r to the memory of the one of rank q, and its address for that block.
typedef struct {
  past_access access;
  uintptr_t address;
} remote_access;
static remote_access last[CLUSTER_BLOCKS_MAX][CLUSTER_BLOCKS_MAX];

// ---- The barriers -------------------------------------------------------------------------------

void observer_cluster_begin(worker *lead) {
  (void)lead;
  order_cluster_begin();
  memset(last, 0, sizeof last);
}

void observer_block_enter(worker *worker) { order_block_enter(worker->rank); }

// In a cooperative launch the barrier between blocks is the grid's. That of a cluster of one block is then like one for
// part of a block, and no arrival there is relaxed.
static bool is_within_block(const worker *worker) {
  return worker->cluster->size < worker->coresident->size;
}

void observer_cluster_arrive(worker *worker, const emulator_site *site, bool relaxed) {
  (void)site;
  if (is_within_block(worker)) {
    order_arrive(worker->cluster, worker->running->index);
  } else {
    order_cluster_arrive(worker->running->index, relaxed);
  }
}

void observer_cluster_release(worker *worker) {
  if (is_within_block(worker)) {
    order_phase_complete(worker->cluster);
  } else {
    order_cluster_release();
  }
}

void observer_cluster_wait(worker *worker) {
  if (is_within_block(worker)) {
    order_waited(worker->cluster, worker->running->index);
  } else {
    order_cluster_waited(worker->running->index);
  }
}

// The block's own barriers, before and behind, say the same of its other threads.
void observer_grid_arrive(worker *worker) { order_cluster_arrive(worker->running->index, false); }

void observer_grid_release(worker *worker) {
  (void)worker;
  order_cluster_release();
}

void observer_grid_wait(worker *worker) { order_cluster_waited(worker->running->index); }

// ---- Memory of other blocks ---------------------------------------------------------------------

static const char no_longer[] =
    "a block must not end while others use its shared memory: put cluster.sync() behind the last "
    "of these accesses, for all threads of the cluster";

static void check_begun(const checked_access *access) {
  if (order_knows_cluster(access->thread)) return;
  finding found =
      access_finding(access, FINDING_BLOCK_NOT_BEGUN,
                     "the blocks of a cluster need not begin at the same time: put cluster.sync() "
                     "before the first access to the shared memory of another one");
  findings_add(&found, access_describe, (const void *)access->address);
}

// Static shared memory has another address for its own block.
static uintptr_t address_for_owner(uintptr_t address, const worker *owner) {
  const size_t offset = address - (uintptr_t)owner->parked.start;
  return offset < owner->launch->static_shared_bytes ? (uintptr_t)owner->static_shared + offset
                                                     : address;
}

static void check_not_ended(const checked_access *access, const worker *owner) {
  if (owner->alive > 0) {
    last[owner->block.cluster_rank][order_rank()] =
        (remote_access){.access = {.stamp = order_now(),
                                   .place = access->place,
                                   .actor = access->actor & 0xFFF,
                                   .rank = order_rank() & 0xF,
                                   .bytes = access->bytes < 255 ? access->bytes & 0xFF : 255,
                                   .kind = access->kind & 0xF},
                        .address = address_for_owner(access->address, owner)};
    return;
  }
  finding found = access_finding(access, FINDING_BLOCK_ENDED, no_longer);
  findings_add(&found, access_describe, (const void *)access->address);
  findings_leave(access->worker, cudaErrorLaunchFailure);
}

shadow_region *clusters_region_of(const checked_access *access) {
  if (access->worker->cluster->size == 1) return NULL;
  const worker *owner = cluster_owner(access->worker, (const void *)access->address);
  if (owner == NULL || owner == access->worker) return NULL;
  static shadow_region found;
  found = regions_dynamic_shared_of(owner);
  const bool dynamic = access->address - found.start < found.bytes;
  if (!dynamic) found = regions_static_shared_of(owner);
  const size_t offset = access->address - found.start;
  if (dynamic ? offset + access->bytes > found.bytes
              : offset >= found.bytes || !regions_in_shared_variable(offset, access->bytes))
    access_outside(access);
  check_begun(access);
  check_not_ended(access, owner);
  return &found;
}

static bool any_thread_knows(const worker *worker, const past_access *past) {
  for (unsigned i = 0; i < worker->thread_count; i++)
    if (order_before(past, i) || order_before_by_shared_atomics(past, i)) return true;
  return false;
}

static void describe_own(finding *found, const void *address) {
  const uint3 block = current_worker->block.block_index;
  access_describe(found, address);
  const size_t length = strlen(found->detail.text);
  snprintf(found->detail.text + length, sizeof found->detail.text - length, " of block (%u,%u,%u)",
           block.x, block.y, block.z);
}

void clusters_block_end(worker *worker) {
  for (unsigned rank = 0; rank < worker->cluster->size; rank++) {
    const remote_access *it = &last[worker->block.cluster_rank][rank];
    if (it->access.stamp == 0 || any_thread_knows(worker, &it->access)) continue;
    finding found = {.kind = FINDING_BLOCK_ENDED,
                     .space = address_space_of(worker, (const void *)it->address),
                     .party = {access_past_party(&it->access)},
                     .parties = 1,
                     .hint = no_longer};
    findings_add(&found, describe_own, (const void *)it->address);
  }
}

// What only launches with clusters have: the shared memory of other blocks.
#ifndef SANITIZE_CLUSTERS_H
#define SANITIZE_CLUSTERS_H

#include "accesses.h"

// The region that holds the access, if it is to the shared memory of another block of the cluster, else NULL. Checks
// that this block is there. Leaves the launch when the access is out of bounds, or the block has ended. The region is
// valid until the next call.
shadow_region *clusters_region_of(const checked_access *access);

// The worker's block has ended: adds a finding for accesses of other blocks that may come later.
void clusters_block_end(worker *worker);

#endif

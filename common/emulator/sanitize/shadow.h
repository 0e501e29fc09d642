// The shadow of memory: it records which thread accessed each 2
// bytes last, and for each byte whether it has been initialised.
#ifndef SANITIZE_SHADOW_H
#define SANITIZE_SHADOW_H

#include "order.h"

enum { CELL_BYTES = 2 };

// Reads by different threads that a later write must be ordered after. Older reads of other lanes
// and warps are dropped; the reads that are kept suffice to find that a write is not ordered.
typedef enum {
  READ_LATEST,
  READ_OTHER_LANE, // of the same warp as the latest was
  READ_OTHER_WARP,
  READ_OTHER_BLOCK,
  READS_KEPT
} kept_read;

typedef struct {
  past_access write;
  past_access read[READS_KEPT];
  uint16_t copying; // an asynchronous copy to here is under way: its actor + 1; see shadow_copying
} shadow_cell;

typedef enum {
  SHADOW_DEVICE,         // cudaMalloc
  SHADOW_SYMBOL,         // a variable of the program
  SHADOW_STATIC_SHARED,  // of a block that runs
  SHADOW_DYNAMIC_SHARED, // of a block that runs
  SHADOW_CONSTANT        // memory that no kernel writes: not remembered, no cells
} shadow_kind;

typedef struct {
  uintptr_t start;
  size_t bytes;
  shadow_kind kind;
  shadow_cell *cells; // the first is that of start / CELL_BYTES
  uint8_t *written;   // one for each byte; NULL when all of it counts as written
  bool host_writes;   // managed memory: the host may have written to it unseen
} shadow_region;

// Memory for a region's cells, and for `written` unless `all_written`. Ends the program when there is
// none.
void shadow_create(shadow_region *region, bool all_written);
void shadow_destroy(shadow_region *region);

// Forgets all accesses, not what has been written.
void shadow_forget_accesses(shadow_region *region);

// The cell of the address, which is in the region.
static inline shadow_cell *shadow_cell_of(const shadow_region *region, uintptr_t address) {
  return &region->cells[address / CELL_BYTES - region->start / CELL_BYTES];
}

// Whether an asynchronous copy of the running block, or of its cluster, is under way to the cell.
static inline bool shadow_copying(const shadow_cell *cell) {
  return cell->copying != 0 && order_in_running_cluster(cell->write.stamp);
}

void shadow_keep_read(shadow_cell *cell, const past_access *read);

#endif

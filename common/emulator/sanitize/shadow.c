#define _GNU_SOURCE
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static size_t cell_count(const shadow_region *region) {
  const uintptr_t last = region->start + region->bytes;
  return last / CELL_BYTES - region->start / CELL_BYTES + 1;
}

// The memory is zero, and takes up space only once it is written to.
static void *map(size_t bytes) {
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr,
            "error: the sanitizer needs %zu bytes more than there are: try a smaller problem\n",
            bytes);
    exit(2);
  }
  return memory;
}

void shadow_create(shadow_region *region, bool all_written) {
  region->cells = map(cell_count(region) * sizeof *region->cells);
  region->written = all_written ? NULL : map(region->bytes + 1);
}

void shadow_destroy(shadow_region *region) {
  if (region->cells != NULL) munmap(region->cells, cell_count(region) * sizeof *region->cells);
  if (region->written != NULL) munmap(region->written, region->bytes + 1);
}

void shadow_forget_accesses(shadow_region *region) {
  if (region->cells == NULL) return;
  madvise(region->cells, cell_count(region) * sizeof *region->cells, MADV_DONTNEED);
}

void shadow_keep_read(shadow_cell *cell, const past_access *read) {
  past_access *latest = &cell->read[READ_LATEST];
  if (latest->stamp == read->stamp && latest->actor == read->actor && latest->rank == read->rank) {
    latest->part |= read->part;
    return;
  }
  if (!order_in_running_block(latest)) {
    if (order_in_running_launch(latest->stamp)) cell->read[READ_OTHER_BLOCK] = *latest;
  } else if (latest->actor / GPU_WARP_LANES != read->actor / GPU_WARP_LANES) {
    cell->read[READ_OTHER_WARP] = *latest;
  } else if (latest->actor != read->actor) {
    cell->read[READ_OTHER_LANE] = *latest;
  }
  *latest = *read;
}

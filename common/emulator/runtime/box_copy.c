#define _GNU_SOURCE
#include "box_copy.h"

#include "box.h"
#include "cluster.h"
#include "fault.h"
#include "hopper.h"
#include "mbarrier.h"
#include "numeric/poison.h"
#include "observer.h"
#include "swizzle.h"

#include <stdlib.h>
#include <string.h>

// ---- Starting a copy ----------------------------------------------------------------------------

// Tells the observer which bytes the copy reads from now on, or has read.
static void announce(worker *worker, const box_copy *copy, bool done) {
#ifdef EMULATOR_OBSERVED
  const column_range columns = box_columns_inside(copy);
  const unsigned bytes = columns.end - columns.first;
  for (box_row row = {.index = -1u}; box_next_row(copy, &row);) {
    const char *source = (const char *)row.place + columns.first;
    if (row.inside && done) {
      observer_box_source_done(worker, copy, source, bytes);
    } else if (row.inside) {
      observer_library_access(worker, worker->running, source, bytes, OBSERVED_ASYNC_READ,
                              &copy->site);
    }
  }
#else
  (void)worker, (void)copy, (void)done;
#endif
}

void box_copies_add(box_copies *copies, const box_copy *copy) {
  if (copies->count == copies->room) {
    const unsigned room = copies->room > 0 ? 2 * copies->room : 32;
    box_copy *larger = realloc(copies->pending, room * sizeof *larger);
    if (larger == NULL) {
      emulator_fault(cudaErrorLaunchOutOfResources, "No memory for %u copies that are under way",
                     room);
    }
    copies->pending = larger;
    copies->room = room;
  }
  copies->pending[copies->count++] = *copy;
}

// `code` is where the kernel starts the copy.
static void start(worker *worker, box_copy *copy, uint64_t *barrier, const void *code) {
  copy->barrier = barrier;
  copy->code = code;
  mbarrier_read(barrier, &copy->site);
  box_check_tensor(copy);
  announce(worker, copy, false);
  observer_box_start(worker, copy);
  poison_fill(copy->shared, tensor_map_box_bytes(&copy->map), POISON_COPY);
  box_copies_add(&worker->box_copies, copy);
}

void emulator_copy_box(void *destination, const CUtensorMap *map, const int *coordinate,
                       unsigned rank, uint64_t *barrier, const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  history_did(worker, site, barrier);
  box_copy copy = box_begin(destination, map, coordinate, rank, site);
  start(worker, &copy, barrier, __builtin_return_address(0));
}

void emulator_copy_bytes(void *destination, const void *source, size_t bytes, uint64_t *barrier,
                         const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  history_did(worker, site, barrier);
  box_copy copy = box_of_bytes(destination, source, bytes, site);
  start(worker, &copy, barrier, __builtin_return_address(0));
}

// The copy that arrives in another block, at the places that this block names in its own shared memory.
static void copy_to_other(worker *worker, unsigned rank, box_copy copy, const emulator_site *site) {
#ifdef EMULATOR_OBSERVED
  emulator_fault(cudaErrorNotSupported,
                 "%s in %s:%d: sanitize and count know no copies to other blocks: run the program "
                 "without MODE",
                 site->operation, site->file, site->line);
#endif
  struct worker *to = worker->cluster->blocks[rank];
  char *mapped = emulator_cluster_map(copy.shared, rank, site);
  copy.shared = cluster_own_address(worker, to, mapped);
  copy.barrier = cluster_own_address(worker, to, emulator_cluster_map(copy.barrier, rank, site));
  poison_fill(mapped, tensor_map_box_bytes(&copy.map), POISON_COPY);
  box_copies_add(&to->box_copies, &copy);
}

void emulator_multicast_box(void *destination, const CUtensorMap *map, const int *coordinate,
                            unsigned rank, uint64_t *barrier, unsigned blocks,
                            const emulator_site *site) {
  worker *worker = current_worker;
  const cluster *cluster = worker->cluster;
  hopper_check(worker, site);
  if (blocks == 0 || blocks >> cluster->size != 0) {
    emulator_fault(cudaErrorLaunchFailure,
                   "%s in %s:%d: the mask 0x%x of a multicast names no block, or one that the "
                   "cluster of %u does not have",
                   site->operation, site->file, site->line, blocks, cluster->size);
  }
  box_copy copy = box_begin(destination, map, coordinate, rank, site);
  copy.barrier = barrier;
  box_check_tensor(&copy);
  for (unsigned i = 0; i < cluster->size; i++) {
    if ((blocks >> i & 1) == 0) continue;
    if (i == worker->block.cluster_rank)
      emulator_copy_box(destination, map, coordinate, rank, barrier, site);
    else
      copy_to_other(worker, i, copy, site);
  }
}

// ---- Its end ------------------------------------------------------------------------------------

// Writes a row to its swizzled place, piece by piece, with zeros where the tensor has no elements.
static void write_row(const box_copy *copy, const box_row *row, column_range columns) {
  const unsigned row_bytes = tensor_map_row_bytes(&copy->map);
  char bytes[256 * sizeof(double)];
  if (!row->inside) columns.end = columns.first;
  memset(bytes, 0, columns.first);
  memcpy(bytes + columns.first, (const char *)row->place + columns.first,
         columns.end - columns.first);
  memset(bytes + columns.end, 0, row_bytes - columns.end);
  const uint32_t start = copy->shared_address + row->index * row_bytes;
  for (uint32_t at = 0; at < row_bytes; at += SWIZZLE_PIECE) {
    const uint32_t place = swizzled_address(start + at, copy->map.span) - copy->shared_address;
    memcpy(copy->shared + place, bytes + at, SWIZZLE_PIECE);
  }
}

// True when the copy's bytes were the last that its barrier waited for.
static bool perform(worker *worker, const box_copy *copy) {
  const column_range columns = box_columns_inside(copy);
  announce(worker, copy, true);
  observer_box_done(worker, copy);
  for (box_row row = {.index = -1u}; box_next_row(copy, &row);) {
    write_row(copy, &row, columns);
  }
  worker->counts.async_copy_bytes += box_tensor_bytes(copy);
  return mbarrier_bytes_arrived(worker, copy->barrier, tensor_map_box_bytes(&copy->map),
                                &copy->site);
}

// A phase that has ended without a copy that was started for it is one of too few announced bytes: on a GPU those of all
// copies count as they come, so that the phase may end while each of them is half there. A copy for the next phase is
// started by a thread that knows the end of this one.
static void refuse_unannounced(const worker *worker, const box_copy *copy) {
  emulator_fault(
      cudaErrorLaunchFailure,
      "%s in %s:%d: the phase of the barrier %s is over, and the %u bytes of this copy were "
      "under way before: announce the bytes of all copies that are started in a phase",
      copy->site.operation, copy->site.file, copy->site.line,
      mbarrier_short_name(worker, copy->barrier).text, tensor_map_box_bytes(&copy->map));
}

bool box_copies_arrive(worker *worker) {
  box_copies *copies = &worker->box_copies;
  unsigned first = 0;
  while (first < copies->count && !mbarrier_awaited(worker, copies->pending[first].barrier))
    first++;
  if (first == copies->count) return false;
  uint64_t *barrier = copies->pending[first].barrier;
  bool complete = false;
  unsigned kept = first;
  for (unsigned i = first; i < copies->count; i++) {
    const box_copy *copy = &copies->pending[i];
    if (copy->barrier != barrier) {
      copies->pending[kept++] = *copy;
    } else if (complete) {
      refuse_unannounced(worker, copy);
    } else {
      complete = perform(worker, copy);
    }
  }
  copies->count = kept;
  return true;
}

void box_copies_begin(worker *worker) { worker->box_copies.count = 0; }

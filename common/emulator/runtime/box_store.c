// Box copies from shared memory to tensors.
#define _GNU_SOURCE
#include "box.h"
#include "box_copy.h"
#include "hopper.h"
#include "observer.h"
#include "swizzle.h"

#include <string.h>

static void start(box_copy *copy) {
  box_stores *stores = &current_worker->running->stores;
  copy->group = stores->committed;
  box_check_tensor(copy);
  box_copies_add(&stores->copies, copy);
}

void emulator_store_box(const CUtensorMap *map, const int *coordinate, unsigned rank,
                        const void *source, const emulator_site *site) {
  hopper_check(current_worker, site);
  history_did(current_worker, site, NULL);
  box_copy copy = box_begin((void *)(uintptr_t)source, map, coordinate, rank, site);
  start(&copy);
}

void emulator_store_bytes(void *destination, const void *source, size_t bytes,
                          const emulator_site *site) {
  hopper_check(current_worker, site);
  history_did(current_worker, site, NULL);
  box_copy copy = box_of_bytes((void *)(uintptr_t)source, destination, bytes, site);
  start(&copy);
}

void emulator_store_commit(const emulator_site *site) {
  hopper_check(current_worker, site);
  history_did(current_worker, site, NULL);
  current_worker->running->stores.committed++;
}

// Collects a row from its swizzled places, and writes what the tensor has of it.
static void store_row(const box_copy *copy, const box_row *row, column_range columns) {
  const unsigned row_bytes = tensor_map_row_bytes(&copy->map);
  char bytes[256 * sizeof(double)];
  const uint32_t start = copy->shared_address + row->index * row_bytes;
  for (uint32_t at = 0; at < row_bytes; at += SWIZZLE_PIECE) {
    const uint32_t place = swizzled_address(start + at, copy->map.span) - copy->shared_address;
    memcpy(bytes + at, copy->shared + place, SWIZZLE_PIECE);
  }
  memcpy((char *)row->place + columns.first, bytes + columns.first, columns.end - columns.first);
}

// The thread that waits counts as the one that reads and writes.
static void perform(worker *worker, const box_copy *copy) {
  thread *self = worker->running;
  const column_range columns = box_columns_inside(copy);
  worker->accessing = &copy->site;
  observer_library_access(worker, self, copy->shared, tensor_map_box_bytes(&copy->map),
                          OBSERVED_READ, &copy->site);
  for (box_row row = {.index = -1u}; box_next_row(copy, &row);) {
    if (!row.inside || columns.first == columns.end) continue;
    observer_library_access(worker, self, (const char *)row.place + columns.first,
                            columns.end - columns.first, OBSERVED_WRITE, &copy->site);
    store_row(copy, &row, columns);
  }
  worker->accessing = NULL;
  worker->counts.async_copy_bytes += box_tensor_bytes(copy);
}

// Stores what belongs to groups before `end`.
static void store_until(worker *worker, uint64_t end) {
  box_copies *copies = &worker->running->stores.copies;
  unsigned done = 0;
  while (done < copies->count && copies->pending[done].group < end)
    perform(worker, &copies->pending[done++]);
  copies->count -= done;
  if (copies->count > 0)
    memmove(copies->pending, copies->pending + done, copies->count * sizeof *copies->pending);
}

void emulator_store_wait(size_t newest, const emulator_site *site) {
  worker *worker = current_worker;
  hopper_check(worker, site);
  history_did(worker, site, NULL);
  const uint64_t committed = worker->running->stores.committed;
  if (newest < committed) store_until(worker, committed - newest);
}

void box_stores_begin(thread *thread) {
  thread->stores.copies.count = 0;
  thread->stores.committed = 0;
}

void box_stores_end(worker *worker) { store_until(worker, UINT64_MAX); }

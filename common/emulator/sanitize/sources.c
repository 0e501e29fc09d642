// Finds writes to the sources of copies that are under way.
//
// A copy reads its source at any time between its start and the end of the wait for it. A write that a thread makes between
// these two, in the order in which the threads run, cannot be ordered before the start, because it came later, nor behind
// the end, because it came before that. So it is a race, whatever the thread has waited for.
#define _GNU_SOURCE
#include "sources.h"
#include "accesses.h"
#include "places.h"

uint32_t sources_last_write;

const char sources_hint[] =
    "a copy reads its source at any time until the wait for it is over: the source may be written "
    "behind __pipeline_wait_prior(), or behind the wait for the barrier that counts the copy's "
    "bytes, and by other threads behind __syncthreads() as well";

// ---- The end ------------------------------------------------------------------------------------

static void report(const checked_access *copy, const past_access *write, uintptr_t address) {
  finding found = access_finding(copy, FINDING_RACE, sources_hint);
  found.party[1] = access_past_party(write);
  found.parties = 2;
  findings_add(&found, access_describe, (const void *)address);
}

// Reports the first write to the source since the copy's start.
static void check_writes(const checked_access *copy, const shadow_cell *cell, uint32_t started) {
  const uintptr_t end = copy->address + copy->bytes;
  for (uintptr_t at = copy->address; at < end; at += CELL_BYTES, cell++) {
    if (cell->write.stamp <= started) continue;
    report(copy, &cell->write, at);
    return;
  }
}

static const shadow_region *region_of_source(const checked_access *copy) {
  const shadow_region *region = regions_find(copy->address);
  return region != NULL && region->kind != SHADOW_CONSTANT ? region : NULL;
}

void observer_box_source_done(worker *worker, const box_copy *copy, const void *address,
                              size_t bytes) {
  if (bytes == 0 || sources_last_write <= copy->started) return;
  const checked_access read = {.worker = worker,
                               .thread = copy->thread,
                               .address = (uintptr_t)address,
                               .bytes = bytes,
                               .kind = OBSERVED_ASYNC_READ,
                               .place = place_of_site(&copy->site)};
  const shadow_region *region = region_of_source(&read);
  if (region != NULL) check_writes(&read, shadow_cell_of(region, read.address), copy->started);
}

// ---- Copies of a thread -------------------------------------------------------------------------

static checked_access async_read(worker *worker, const async_copy *copy) {
  return (checked_access){.worker = worker,
                          .thread = worker->running->index,
                          .actor = worker->running->index,
                          .address = (uintptr_t)copy->source,
                          .bytes = copy->bytes - copy->zeros,
                          .kind = OBSERVED_ASYNC_READ,
                          .again = true, // it is recorded when the copy is done
                          .place = place_of_site(&copy->site)};
}

void observer_async_start(worker *worker, async_copy *copy) {
  const checked_access read = async_read(worker, copy);
  if (read.bytes > 0) access_check(&read);
  copy->started = order_new_event();
}

// A later write must be ordered behind the end of the copy.
void sources_async_done(worker *worker, const async_copy *copy) {
  const checked_access read = async_read(worker, copy);
  const shadow_region *region = read.bytes > 0 ? region_of_source(&read) : NULL;
  if (region == NULL) return;
  shadow_cell *cell = shadow_cell_of(region, read.address);
  if (sources_last_write > copy->started) check_writes(&read, cell, copy->started);
  const past_access now = {.stamp = order_now(),
                           .place = read.place,
                           .actor = read.actor & 0xFFF,
                           .rank = order_rank() & 0xF,
                           .bytes = read.bytes & 0xFF,
                           .kind = OBSERVED_ASYNC_READ,
                           .part = 3};
  for (size_t i = 0; i < read.bytes / CELL_BYTES; i++) shadow_keep_read(&cell[i], &now);
}

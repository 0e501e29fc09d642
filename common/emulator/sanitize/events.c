// The observer's hooks for launches, blocks, warps and asynchronous copies.
#define _GNU_SOURCE
#include "accesses.h"

#include "guesses.h"
#include "places.h"
#include "proxies.h"
#include "roles.h"
#include "sources.h"

#include <stdio.h>
#include <string.h>

// The mode uses one worker: blocks then run in their order, and reports are the same each time.
unsigned observer_workers(void) { return 1; }

// A kernel that starts one block for each multiprocessor then starts
// few, so that even a small problem gives a block several tiles.
unsigned observer_multiprocessors(void) { return 2; }

// Steps are compiled for this LAB_MAX_GRID_YZ, so that the fault of a grid above 65,535 shows here too.
unsigned observer_blocks_yz(void) { return 2; }

void observer_launch_begin(const launch *launch) {
  regions_launch_begin(launch);
  order_launch_begin(launch);
}

void observer_launch_end(const launch *launch) {
  guesses_launch_end();
  findings_report(launch);
}

void observer_block_begin(worker *worker, uint64_t number) {
  (void)number;
  order_block_begin();
  barriers_forget();
  divergence_forget();
  turns_forget();
  fences_forget();
  proxies_forget();
  regions_block_begin(worker);
}

void observer_launches_apart(void) { order_launches_apart(); }

void observer_earlier_wait(worker *worker) { order_earlier_waited(worker->running->index); }

void observer_acquire(worker *worker) { order_acquire(worker->running->index); }

void observer_fence(worker *worker) { order_fence(worker->running->index); }

// ---- Warps --------------------------------------------------------------------------------------

void observer_warp_collective(worker *worker, thread *first, unsigned lanes,
                              const emulator_site *site) {
  (void)worker;
  (void)site;
  order_warp_met(first->index, lanes);
}

void observer_shuffle_absent(worker *worker, unsigned lane, unsigned source_lane,
                             const emulator_site *site) {
  const unsigned first = worker->running->index / GPU_WARP_LANES * GPU_WARP_LANES;
  const checked_access access = {
      .worker = worker, .thread = first + lane, .place = place_of_site(site)};
  finding found = {.kind = FINDING_SHUFFLE,
                   .space = ADDRESS_STATIC_SHARED,
                   .party = {access_party(&access)},
                   .parties = 1,
                   .hint = "the value that it gets is undefined: let the lane take part, or read a "
                           "lane that does"};
  snprintf(found.detail.text, sizeof found.detail.text,
           first + source_lane < worker->thread_count
               ? "it reads lane %u, which has exited or is not in the mask"
               : "it reads lane %u, which the block does not have",
           source_lane);
  findings_add(&found, NULL, NULL);
}

void observer_warp_barrier(worker *worker, thread *first, unsigned lanes) {
  (void)worker;
  order_warp_barrier(first->index, lanes);
}

// ---- Asynchronous copies ------------------------------------------------------------------------

// The copy is over: cells without a later write get the actor's write, with the stamp of now.
void access_end_copy(const void *destination, unsigned bytes, unsigned actor) {
  const uintptr_t start = (uintptr_t)destination;
  const shadow_region *dynamic = regions_dynamic_shared();
  const shadow_region *region =
      start - dynamic->start < dynamic->bytes ? dynamic : regions_static_shared();
  shadow_cell *cell = shadow_cell_of(region, start);
  for (unsigned i = 0; i < bytes / CELL_BYTES; i++, cell++) {
    if (cell->copying != actor + 1) continue;
    cell->copying = 0;
    cell->write.stamp = order_now();
  }
}

void observer_async_done(worker *worker, const async_copy *copy) {
  sources_async_done(worker, copy);
  access_end_copy(copy->destination, copy->bytes, worker->running->index);
}

void observer_thread_end(worker *worker) {
  guesses_thread_end(worker->running->index);
  order_thread_end(worker->running->index);
  products_check_waited(worker);
  const async_copies *copies = &worker->running->copies;
  for (unsigned i = 0; i < copies->count; i++) {
    const async_copy *copy = &copies->pending[i];
    observer_async_done(worker, copy);
    const checked_access access = {.worker = worker,
                                   .thread = worker->running->index,
                                   .bytes = copy->bytes,
                                   .kind = OBSERVED_ASYNC_WRITE,
                                   .place = place_of_site(&copy->site)};
    finding found = {.kind = FINDING_COPY_NOT_WAITED,
                     .space = ADDRESS_STATIC_SHARED,
                     .party = {access_party(&access)},
                     .parties = 1,
                     .hint =
                         copy->group == copies->committed
                             ? "the copy is in no group: __pipeline_commit() is missing behind it"
                             : "__pipeline_wait_prior(0) before the thread ends is missing"};
    findings_add(&found, access_describe, copy->destination);
  }
}

// The reports about threads that wait for each other: a block in which no
// thread can run, and lanes of a warp that meet in different operations.
#define _GNU_SOURCE
#include "address_space.h"
#include "caller.h"
#include "fault.h"
#include "history.h"
#include "line_text.h"
#include "mbarrier.h"

#include <string.h>

static bool wait_alike(const thread *a, const thread *b) {
  if (a->state != b->state) return false;
  if (a->state == THREAD_EXITED || a->state == THREAD_READY) return true;
  return a->site->line == b->site->line && strcmp(a->site->file, b->site->file) == 0 &&
         strcmp(a->site->operation, b->site->operation) == 0 &&
         (a->state != THREAD_IN_WARP || a->mask == b->mask) &&
         (a->state < THREAD_AT_PHASE || a->awaited == b->awaited);
}

// The lanes without which the lane's warp function cannot go on.
static unsigned lanes_to_come(const worker *worker, const thread *thread) {
  const warp *warp = &worker->warps[thread->index / GPU_WARP_LANES];
  unsigned arrived = 0;
  for (unsigned i = 0; i < warp->pending_count; i++)
    if (warp->pending[i].mask == thread->mask) arrived = warp->pending[i].arrived;
  return thread->mask & warp->alive & ~arrived;
}

// Writes " for ...", the event that the thread waits for, if its line does not say it.
static void append_awaited(line_text *line, const worker *worker, const thread *thread) {
  const warpgroup *warpgroup = &worker->warpgroups[thread->index / WARPGROUP_THREADS];
  switch (thread->state) {
  case THREAD_IN_WARP:
    line_append(line, " for the lanes 0x%08x, of which 0x%08x have not come", thread->mask,
                lanes_to_come(worker, thread));
    break;
  case THREAD_AT_PHASE:
    line_append(line, " for the barrier %s: %s", mbarrier_name_of(worker, thread->awaited).text,
                mbarrier_describe(thread->awaited).text);
    break;
  case THREAD_AT_NUMBER: {
    const named_barrier *barrier = thread->awaited;
    line_append(line, " for barrier %td, to which %u of %u threads have come",
                barrier - worker->named_barriers, barrier->arrived, barrier->threads);
    break;
  }
  case THREAD_AT_PRODUCTS:
    line_append(line, " for products that %u of the warpgroup's %d threads have committed",
                ((const product_group *)thread->awaited)->committed, WARPGROUP_THREADS);
    break;
  case THREAD_AT_REGISTERS:
    line_append(line,
                warpgroup->asking < WARPGROUP_THREADS
                    ? " for the rest of the warpgroup's %d threads"
                    : " for %d threads' registers that no warp gives away",
                WARPGROUP_THREADS);
    break;
  default: break;
  }
}

// Writes one line for all threads that wait as `example` does and are in no line yet.
static void report_group(const worker *worker, const thread *example, bool *reported) {
  bool chosen[BLOCK_THREADS_MAX] = {false};
  for (unsigned i = 0; i < worker->thread_count; i++) {
    chosen[i] = !reported[i] && wait_alike(&worker->threads[i], example);
    reported[i] |= chosen[i];
  }
  line_text line = {.length = 0};
  const bool one = line_append_threads(&line, worker, chosen) == 1;
  if (example->state == THREAD_EXITED) {
    line_append(&line, " %s exited", one ? "has" : "have");
  } else if (example->state == THREAD_READY) {
    line_append(&line, " %s ready to run", one ? "is" : "are");
  } else {
    const emulator_site *site = example->site;
    line_append(&line, " %s at %s in %s:%d", one ? "waits" : "wait", site->operation, site->file,
                site->line);
    append_awaited(&line, worker, example);
  }
  fault_report_line("%s", line.text);
}

static void report_groups(const worker *worker, bool *reported) {
  for (unsigned i = 0; i < worker->thread_count; i++) {
    if (!reported[i]) report_group(worker, &worker->threads[i], reported);
  }
}

void fault_report_others(const worker *worker) {
  bool reported[BLOCK_THREADS_MAX] = {false};
  reported[worker->running->index] = true;
  report_groups(worker, reported);
}

// Whether a lane waits in a warp function for one that waits at the block's barrier.
static bool waits_for_barrier(const worker *worker, const thread *thread) {
  if (thread->state != THREAD_IN_WARP) return false;
  const unsigned to_come = lanes_to_come(worker, thread);
  const unsigned first = thread->index / GPU_WARP_LANES * GPU_WARP_LANES;
  for (unsigned lane = 0; lane < GPU_WARP_LANES; lane++)
    if ((to_come >> lane & 1) != 0 && worker->threads[first + lane].state == THREAD_AT_BARRIER)
      return true;
  return false;
}

// Advice about bytes that were announced, where a thread waits for others or for more of them, else about arrivals that a
// thread waits for.
static void report_phases(const worker *worker) {
  bool (*const reports[])(const struct worker *, const uint64_t *) = {mbarrier_report_bytes,
                                                                      mbarrier_report_arrivals};
  for (int r = 0; r < 2; r++)
    for (unsigned i = 0; i < worker->thread_count; i++) {
      const thread *thread = &worker->threads[i];
      if (thread->state == THREAD_AT_PHASE && reports[r](worker, thread->awaited)) return;
    }
}

// Advice where all that wait do so at the block's barrier or in a warp function, or where lanes of a warp wait for each
// other there; else the fault may be elsewhere, such as in the bytes of a copy.
static void report_deadlock_hint(const worker *worker) {
  unsigned at_barrier = 0, at_cluster = 0, in_warp = 0;
  bool divided = false;
  for (unsigned i = 0; i < worker->thread_count; i++) {
    const thread *thread = &worker->threads[i];
    at_barrier += thread->state == THREAD_AT_BARRIER;
    at_cluster += thread->state == THREAD_AT_CLUSTER;
    in_warp += thread->state == THREAD_IN_WARP;
    divided |= waits_for_barrier(worker, thread);
  }
  if (!divided && at_barrier + at_cluster + in_warp != worker->alive) {
    report_phases(worker);
    return;
  }
  if (at_cluster > 0)
    fault_report_line("hint: cluster.sync() is for all threads of all blocks of the cluster: all "
                      "of them must come to it, and as often as the others, unless they have "
                      "exited");
  else if (at_barrier > 0)
    fault_report_line("hint: __syncthreads() is for all threads of the block, and a warp function "
                      "for all lanes of its mask: all of them must come, and to one after the "
                      "other in the same order");
  else
    fault_report_line("hint: a warp function is for all lanes of its mask: all of them must come "
                      "to it, or the mask must name those alone that do");
}

void fault_deadlock(worker *worker) {
  const uint3 block = worker->block.block_index;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    bool reported[BLOCK_THREADS_MAX] = {false};
    fault_report_title("Barrier error detected. Deadlock: no thread of block (%u,%u,%u) can go on",
                       block.x, block.y, block.z);
    report_groups(worker, reported);
    history_report(worker);
    report_deadlock_hint(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

// ---- Clusters -----------------------------------------------------------------------------------

static bool blocks_alike(const worker *a, const worker *b) {
  for (unsigned i = 0; i < a->thread_count; i++)
    if (!wait_alike(&a->threads[i], &b->threads[i])) return false;
  return true;
}

// Writes the groups of all blocks that wait as the one of this rank, unless an earlier one has stood for it.
static void report_block(const cluster *cluster, unsigned rank) {
  const worker *block = cluster->blocks[rank];
  line_text line = {.length = 0};
  for (unsigned i = 0; i < cluster->size; i++) {
    const uint3 index = cluster->blocks[i]->block.block_index;
    if (!blocks_alike(block, cluster->blocks[i])) continue;
    if (i < rank) return;
    line_append(&line, "%s(%u,%u,%u)", line.length > 0 ? ", " : "", index.x, index.y, index.z);
  }
  const bool one = strstr(line.text, "), ") == NULL;
  fault_report_line("in block%s %s:", one ? "" : "s", line.text);
  bool reported[BLOCK_THREADS_MAX] = {false};
  report_groups(block, reported);
  history_report(block);
}

// The hint is that of a block that is left waiting for the others, if there is one.
static const worker *example_of(const cluster *cluster) {
  const worker *example = NULL;
  for (unsigned rank = 0; rank < cluster->size; rank++) {
    const worker *block = cluster->blocks[rank];
    for (unsigned i = 0; i < block->thread_count; i++) {
      if (block->threads[i].state == THREAD_AT_CLUSTER) return block;
    }
    if (block->alive > 0) example = block;
  }
  return example;
}

void fault_cluster_deadlock(worker *lead) {
  const cluster *cluster = lead->cluster;
  for (unsigned rank = 0; rank < cluster->size; rank++)
    if (!cluster->blocks[rank]->parked.ended) history_end(cluster->blocks[rank]);
  if (fault_report_begin(lead, cudaErrorLaunchFailure)) {
    const uint3 first = lead->block.block_index;
    const uint3 last = cluster->blocks[cluster->size - 1]->block.block_index;
    fault_report_title("Barrier error detected. Deadlock: no thread of the cluster of blocks "
                       "(%u,%u,%u) to (%u,%u,%u) can go on",
                       first.x, first.y, first.z, last.x, last.y, last.z);
    for (unsigned rank = 0; rank < cluster->size; rank++) report_block(cluster, rank);
    report_deadlock_hint(example_of(cluster));
    fault_report_end(lead, cudaErrorLaunchFailure);
  }
  fault_leave(lead);
}

// ---- Warps --------------------------------------------------------------------------------------

void fault_mixed_operations(worker *worker, const rendezvous *meeting, const emulator_site *site) {
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("Divergent threads in a warp: lanes of the same mask 0x%08x meet in "
                       "different operations",
                       meeting->mask);
    fault_report_line("the lanes 0x%08x wait at %s in %s:%d", meeting->arrived,
                      meeting->site->operation, meeting->site->file, meeting->site->line);
    char caller[CALLER_TEXT];
    caller_of(site, caller);
    fault_report_line("lane %u comes to %s in %s:%d%s%s", worker->running->seen.lane,
                      site->operation, site->file, site->line, caller[0] != '\0' ? ", " : "",
                      caller);
    fault_report_thread(worker);
    fault_report_line("hint: all lanes of a mask must come to the same warp function: call it "
                      "where no branch divides them, or name in each branch its own lanes alone");
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

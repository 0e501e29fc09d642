// The reports about threads that wait for each other: a block in which no
// thread can run, and lanes of a warp that meet in different operations.
#define _GNU_SOURCE
#include "address_space.h"
#include "fault.h"
#include "history.h"
#include "mbarrier.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char text[512];
  size_t length;
} line_text;

__attribute__((format(printf, 2, 3))) static void append(line_text *line, const char *format, ...) {
  const size_t room = sizeof line->text - line->length;
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(line->text + line->length, room, format, arguments);
  va_end(arguments);
  line->length += (size_t)written < room ? (size_t)written : room - 1;
}

static void append_range(line_text *line, unsigned first, unsigned last) {
  append(line, first == last ? "%u" : "%u-%u", first, last);
}

// "threads 0-31, 64-95 (warps 0-2)": the threads that `chosen` marks. Returns how many.
static unsigned append_threads(line_text *line, const worker *worker, const bool *chosen) {
  enum { RANGES_SHOWN = 8 };
  unsigned ranges = 0, hidden = 0, lowest = 0, highest = 0, total = 0;
  append(line, "threads ");
  for (unsigned i = 0; i < worker->thread_count; i++) {
    if (!chosen[i]) continue;
    unsigned last = i;
    while (last + 1 < worker->thread_count && chosen[last + 1]) last++;
    if (ranges++ < RANGES_SHOWN) {
      if (ranges > 1) append(line, ", ");
      append_range(line, i, last);
    } else {
      hidden += last - i + 1;
    }
    if (total == 0) lowest = i;
    total += last - i + 1;
    highest = last;
    i = last;
  }
  if (hidden > 0) append(line, " and %u more", hidden);
  const unsigned first_warp = lowest / GPU_WARP_LANES, last_warp = highest / GPU_WARP_LANES;
  append(line, first_warp == last_warp ? " (warp " : " (warps ");
  append_range(line, first_warp, last_warp);
  append(line, ")");
  if (total == 1) {
    memmove(line->text + 6, line->text + 7, line->length - 6);
    line->length--;
  }
  return total;
}

static bool wait_alike(const thread *a, const thread *b) {
  if (a->state != b->state) return false;
  if (a->state == THREAD_EXITED || a->state == THREAD_READY) return true;
  return a->site->line == b->site->line && strcmp(a->site->file, b->site->file) == 0 &&
         strcmp(a->site->operation, b->site->operation) == 0 &&
         (a->state != THREAD_IN_WARP || a->mask == b->mask) &&
         (a->state < THREAD_AT_PHASE || a->awaited == b->awaited);
}

// Writes " for ...", the event that the thread waits for, if its line does not say it.
static void append_awaited(line_text *line, const worker *worker, const thread *thread) {
  const warpgroup *warpgroup = &worker->warpgroups[thread->index / WARPGROUP_THREADS];
  switch (thread->state) {
  case THREAD_IN_WARP: append(line, " for the lanes 0x%08x", thread->mask); break;
  case THREAD_AT_PHASE:
    append(line, " for the barrier %s: %s", mbarrier_name_of(worker, thread->awaited).text,
           mbarrier_describe(thread->awaited).text);
    break;
  case THREAD_AT_NUMBER: {
    const named_barrier *barrier = thread->awaited;
    append(line, " for barrier %td, to which %u of %u threads have come",
           barrier - worker->named_barriers, barrier->arrived, barrier->threads);
    break;
  }
  case THREAD_AT_PRODUCTS:
    append(line, " for products that %u of the warpgroup's %d threads have committed",
           ((const product_group *)thread->awaited)->committed, WARPGROUP_THREADS);
    break;
  case THREAD_AT_REGISTERS:
    append(line,
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
  const bool one = append_threads(&line, worker, chosen) == 1;
  if (example->state == THREAD_EXITED) {
    append(&line, " %s exited", one ? "has" : "have");
  } else if (example->state == THREAD_READY) {
    append(&line, " %s ready to run", one ? "is" : "are");
  } else {
    const emulator_site *site = example->site;
    append(&line, " %s at %s in %s:%d", one ? "waits" : "wait", site->operation, site->file,
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

void fault_deadlock(worker *worker) {
  const uint3 block = worker->block.block_index;
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    bool reported[BLOCK_THREADS_MAX] = {false};
    fault_report_title("Barrier error detected. Deadlock: no thread of block (%u,%u,%u) can go on",
                       block.x, block.y, block.z);
    report_groups(worker, reported);
    history_report(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

void fault_mixed_operations(worker *worker, const rendezvous *meeting, const emulator_site *site) {
  if (fault_report_begin(worker, cudaErrorLaunchFailure)) {
    fault_report_title("Divergent threads in a warp: lanes of the same mask 0x%08x meet in "
                       "different operations",
                       meeting->mask);
    fault_report_line("the lanes 0x%08x wait at %s in %s:%d", meeting->arrived,
                      meeting->site->operation, meeting->site->file, meeting->site->line);
    fault_report_line("lane %u comes to %s in %s:%d", worker->running->seen.lane, site->operation,
                      site->file, site->line);
    fault_report_thread(worker);
    fault_report_end(worker, cudaErrorLaunchFailure);
  }
  fault_leave(worker);
}

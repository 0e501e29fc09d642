#define _GNU_SOURCE
#include "history.h"

#include "block.h"
#include "environment.h"
#include "fault.h"
#include "mbarrier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void history_begin(worker *worker) {
  worker->history.count = 0;
  memset(worker->history.last, 0, sizeof worker->history.last);
}

static bool speaks(const worker *worker, const thread *thread) {
  const unsigned alive = worker->warps[thread->index / GPU_WARP_LANES].alive;
  return alive != 0 && thread->seen.lane == (unsigned)__builtin_ctz(alive);
}

static unsigned warp_number(const thread *thread) { return thread->index / GPU_WARP_LANES; }

static history_event *last_of(worker *worker, unsigned warp) {
  const uint64_t last = worker->history.last[warp];
  history_event *event = &worker->history.events[last % HISTORY_MOST];
  return last > 0 && event->number == last ? event : NULL;
}

static history_event *add(worker *worker, unsigned warp, history_kind kind) {
  block_history *history = &worker->history;
  const uint64_t number = ++history->count;
  history_event *event = &history->events[number % HISTORY_MOST];
  *event =
      (history_event){.number = number, .kind = kind, .warp = warp, .times = 1, .under_way = -1};
  history->last[warp] = number;
  return event;
}

static bool same_call(const history_event *event, const emulator_site *site,
                      const uint64_t *barrier) {
  return event->kind == HISTORY_DID && event->line == site->line && event->barrier == barrier &&
         strcmp(event->operation, site->operation) == 0 && strcmp(event->file, site->file) == 0;
}

void history_did(worker *worker, const emulator_site *site, const uint64_t *barrier) {
  const thread *self = worker->running;
  if (!speaks(worker, self)) return;
  history_event *last = last_of(worker, warp_number(self));
  if (last != NULL && same_call(last, site, barrier)) {
    last->times++;
    return;
  }
  history_event *event = add(worker, warp_number(self), HISTORY_DID);
  event->operation = site->operation;
  event->file = site->file;
  event->line = site->line;
  event->barrier = barrier;
}

void history_leaves(worker *worker, unsigned groups) {
  if (!speaks(worker, worker->running)) return;
  history_event *last = last_of(worker, warp_number(worker->running));
  if (last != NULL) last->under_way = (int)groups;
}

static bool is_told(const thread *thread) {
  return thread->state != THREAD_IN_WARP && thread->state != THREAD_ACTIVE_MASK;
}

void history_waits(worker *worker) {
  const thread *self = worker->running;
  if (!is_told(self) || !speaks(worker, self)) return;
  history_event *last = last_of(worker, warp_number(self));
  if (last == NULL || last->kind != HISTORY_DID) return;
  last->kind = HISTORY_WAITS;
}

// The event of the running thread's warp that ends the waits of others, and of its own lanes, whose going on may already be
// the warp's last event: then it is what that one came after. 0: the copy engine's bytes have come.
static uint64_t cause_now(worker *worker, const thread *waiting) {
  if (emulator_current == NULL)
    return waiting->state == THREAD_AT_CLUSTER || waiting->state == THREAD_AT_GRID
               ? HISTORY_OTHER_BLOCK
               : 0;
  const unsigned warp = warp_number(worker->running);
  const history_event *last = last_of(worker, warp);
  if (last == NULL) return worker->history.last[warp];
  const history_event *cause = &worker->history.events[last->after % HISTORY_MOST];
  const bool by_itself =
      last->kind == HISTORY_GOES_ON && cause->number == last->after && cause->warp == warp;
  return by_itself ? last->after : last->number;
}

void history_goes_on(worker *worker, const thread *thread) {
  if (!is_told(thread) || !speaks(worker, thread)) return;
  const history_event *last = last_of(worker, warp_number(thread));
  if (last == NULL || last->kind != HISTORY_WAITS) return;
  const history_event waited = *last;
  const uint64_t after = cause_now(worker, thread);
  history_event *event = add(worker, warp_number(thread), HISTORY_GOES_ON);
  event->operation = waited.operation;
  event->file = waited.file;
  event->line = waited.line;
  event->barrier = waited.barrier;
  event->after = after;
}

// ---- For the reader -----------------------------------------------------------------------------

static const char *verb_of(const history_event *event) {
  switch (event->kind) {
  case HISTORY_WAITS: return "waits";
  case HISTORY_GOES_ON: return "goes_on";
  default: return "did";
  }
}

static mbarrier_name name_in(const worker *worker, const history_event *event) {
  if (event->barrier == NULL) return (mbarrier_name){""};
  return mbarrier_short_name(worker, event->barrier);
}

// How many events before `number` the ring has lost.
static uint64_t first_kept(const block_history *history) {
  return history->count > HISTORY_MOST ? history->count - HISTORY_MOST + 1 : 1;
}

// Whether EMU_ORDER_BLOCK and EMU_ORDER_KERNEL choose the worker's block.
static bool is_chosen(const worker *worker) {
  const char *block = getenv("EMU_ORDER_BLOCK"), *kernel = getenv("EMU_ORDER_KERNEL");
  const char *name = worker->launch->request->name; // with its template's arguments
  const size_t length = strcspn(name, "<");
  const uint3 own = worker->block.block_index;
  uint3 chosen = {0, 0, 0};
  if (block != NULL) sscanf(block, "%u,%u,%u", &chosen.x, &chosen.y, &chosen.z);
  return own.x == chosen.x && own.y == chosen.y && own.z == chosen.z &&
         (kernel == NULL || kernel[0] == '\0' ||
          (strlen(kernel) == length && memcmp(name, kernel, length) == 0));
}

void history_end(worker *worker) {
  const char *path = getenv("EMU_ORDER");
  if (path == NULL || path[0] == '\0' || !is_chosen(worker)) return;
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "error: EMU_ORDER is %s, which cannot be written\n", path);
    return;
  }
  const block_history *history = &worker->history;
  const uint3 block = worker->block.block_index;
  const char *name = worker->launch->request->name;
  fprintf(file, "# kernel %.*s, block (%u,%u,%u)\n", (int)strcspn(name, "<"), name, block.x,
          block.y, block.z);
  fprintf(file, "# %" PRIu64 " events, of which the first %" PRIu64 " are lost\n", history->count,
          first_kept(history) - 1);
  fprintf(file, "number,warp,event,operation,times,barrier,file,line,after,under_way\n");
  for (uint64_t number = first_kept(history); number <= history->count; number++) {
    const history_event *event = &history->events[number % HISTORY_MOST];
    const char *slash = strrchr(event->file, '/');
    fprintf(file, "%" PRIu64 ",%u,%s,%s,%u,%s,%s,%d,", event->number, event->warp, verb_of(event),
            event->operation, event->times, name_in(worker, event).text,
            slash ? slash + 1 : event->file, event->line);
    if (event->after == HISTORY_OTHER_BLOCK)
      fputs("cluster", file);
    else if (event->kind == HISTORY_GOES_ON)
      fprintf(file, "%" PRIu64, event->after);
    fputc(',', file);
    if (event->under_way >= 0) fprintf(file, "%d", event->under_way);
    fputc('\n', file);
  }
  fclose(file);
}

static void report_event(const worker *worker, const history_event *event) {
  char times[32] = "", after[64] = "";
  if (event->times > 1) snprintf(times, sizeof times, ", %u times", event->times);
  if (event->after == HISTORY_OTHER_BLOCK)
    snprintf(after, sizeof after, ", after another block");
  else if (event->kind == HISTORY_GOES_ON)
    snprintf(after, sizeof after, event->after ? ", after event %" PRIu64 : ", after a copy",
             event->after);
  const mbarrier_name name = name_in(worker, event);
  fault_report_line("  %4" PRIu64 " %s %s%s%s in %s:%d%s%s", event->number,
                    event->kind == HISTORY_WAITS     ? "waits in"
                    : event->kind == HISTORY_GOES_ON ? "goes on from"
                                                     : "calls",
                    event->operation, name.text[0] ? " of " : "", name.text, event->file,
                    event->line, times, after);
}

static bool end_alike(const worker *worker, unsigned a, unsigned b) {
  const block_history *history = &worker->history;
  const history_event *first = &history->events[history->last[a] % HISTORY_MOST];
  const history_event *second = &history->events[history->last[b] % HISTORY_MOST];
  return first->kind == second->kind && first->line == second->line &&
         strcmp(first->operation, second->operation) == 0;
}

// Warps that end alike are reported once, by the first of them; those that have exited are not.
void history_report(const worker *worker) {
  enum { LAST = 4 };
  const block_history *history = &worker->history;
  const unsigned warps = (worker->thread_count + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  for (unsigned warp = 0; warp < warps; warp++) {
    bool reported = history->last[warp] == 0 || worker->warps[warp].alive == 0;
    for (unsigned before = 0; before < warp && !reported; before++)
      reported = history->last[before] > 0 && worker->warps[before].alive != 0 &&
                 end_alike(worker, before, warp);
    if (reported) continue;
    fault_report_line("the last events of warp %u, by their numbers in the block:", warp);
    uint64_t numbers[LAST];
    unsigned found = 0;
    for (uint64_t number = history->count; number >= first_kept(history) && found < LAST; number--)
      if (history->events[number % HISTORY_MOST].warp == warp) numbers[found++] = number;
    while (found > 0) report_event(worker, &history->events[numbers[--found] % HISTORY_MOST]);
  }
}

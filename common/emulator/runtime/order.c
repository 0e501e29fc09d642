#define _GNU_SOURCE
#include "order.h"

#include "block.h"
#include "environment.h"
#include "fault.h"
#include "mbarrier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void order_begin(worker *worker) {
  worker->order.count = 0;
  memset(worker->order.last, 0, sizeof worker->order.last);
}

static bool speaks(const worker *worker, const thread *thread) {
  const unsigned alive = worker->warps[thread->index / GPU_WARP_LANES].alive;
  return alive != 0 && thread->seen.lane == (unsigned)__builtin_ctz(alive);
}

static unsigned warp_number(const thread *thread) { return thread->index / GPU_WARP_LANES; }

static order_event *last_of(worker *worker, unsigned warp) {
  const uint64_t last = worker->order.last[warp];
  order_event *event = &worker->order.events[last % ORDER_MOST];
  return last > 0 && event->number == last ? event : NULL;
}

static order_event *add(worker *worker, unsigned warp, order_kind kind) {
  block_order *order = &worker->order;
  const uint64_t number = ++order->count;
  order_event *event = &order->events[number % ORDER_MOST];
  *event = (order_event){.number = number, .kind = kind, .warp = warp, .times = 1, .under_way = -1};
  order->last[warp] = number;
  return event;
}

static bool same_call(const order_event *event, const emulator_site *site,
                      const uint64_t *barrier) {
  return event->kind == ORDER_DID && event->line == site->line && event->barrier == barrier &&
         strcmp(event->operation, site->operation) == 0 && strcmp(event->file, site->file) == 0;
}

void order_did(worker *worker, const emulator_site *site, const uint64_t *barrier) {
  const thread *self = worker->running;
  if (!speaks(worker, self)) return;
  order_event *last = last_of(worker, warp_number(self));
  if (last != NULL && same_call(last, site, barrier)) {
    last->times++;
    return;
  }
  order_event *event = add(worker, warp_number(self), ORDER_DID);
  event->operation = site->operation;
  event->file = site->file;
  event->line = site->line;
  event->barrier = barrier;
}

void order_leaves(worker *worker, unsigned groups) {
  if (!speaks(worker, worker->running)) return;
  order_event *last = last_of(worker, warp_number(worker->running));
  if (last != NULL) last->under_way = (int)groups;
}

static bool is_told(const thread *thread) {
  return thread->state != THREAD_IN_WARP && thread->state != THREAD_ACTIVE_MASK;
}

void order_waits(worker *worker) {
  const thread *self = worker->running;
  if (!is_told(self) || !speaks(worker, self)) return;
  order_event *last = last_of(worker, warp_number(self));
  if (last == NULL || last->kind != ORDER_DID) return;
  last->kind = ORDER_WAITS;
}

void order_goes_on(worker *worker, const thread *thread) {
  if (!is_told(thread) || !speaks(worker, thread)) return;
  const order_event *last = last_of(worker, warp_number(thread));
  if (last == NULL || last->kind != ORDER_WAITS) return;
  const order_event waited = *last;
  order_event *event = add(worker, warp_number(thread), ORDER_GOES_ON);
  event->operation = waited.operation;
  event->file = waited.file;
  event->line = waited.line;
  event->barrier = waited.barrier;
  event->after = emulator_current == NULL ? 0 : worker->order.last[warp_number(worker->running)];
}

// ---- For the reader -----------------------------------------------------------------------------

static const char *verb_of(const order_event *event) {
  switch (event->kind) {
  case ORDER_WAITS: return "waits";
  case ORDER_GOES_ON: return "goes_on";
  default: return "did";
  }
}

// "K_full[1]" of "smem.K_full[1], at address ...": the words of the source, or the address.
static mbarrier_name short_name(const worker *worker, const order_event *event) {
  if (event->barrier == NULL) return (mbarrier_name){""};
  mbarrier_name name = mbarrier_name_of(worker, event->barrier);
  name.text[strcspn(name.text, ",")] = '\0';
  return name;
}

// How many events before `number` the ring has lost.
static uint64_t first_kept(const block_order *order) {
  return order->count > ORDER_MOST ? order->count - ORDER_MOST + 1 : 1;
}

void order_end(worker *worker, uint64_t block) {
  const char *path = getenv("EMU_ORDER");
  if (path == NULL || path[0] == '\0' || block != 0) return;
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "error: EMU_ORDER is %s, which cannot be written\n", path);
    return;
  }
  const block_order *order = &worker->order;
  fprintf(file, "# %" PRIu64 " events, of which the first %" PRIu64 " are lost\n", order->count,
          first_kept(order) - 1);
  fprintf(file, "number,warp,event,operation,times,barrier,file,line,after,under_way\n");
  for (uint64_t number = first_kept(order); number <= order->count; number++) {
    const order_event *event = &order->events[number % ORDER_MOST];
    const char *slash = strrchr(event->file, '/');
    fprintf(file, "%" PRIu64 ",%u,%s,%s,%u,%s,%s,%d,", event->number, event->warp, verb_of(event),
            event->operation, event->times, short_name(worker, event).text,
            slash ? slash + 1 : event->file, event->line);
    if (event->kind == ORDER_GOES_ON) fprintf(file, "%" PRIu64, event->after);
    fputc(',', file);
    if (event->under_way >= 0) fprintf(file, "%d", event->under_way);
    fputc('\n', file);
  }
  fclose(file);
}

static void report_event(const worker *worker, const order_event *event) {
  char times[32] = "", after[64] = "";
  if (event->times > 1) snprintf(times, sizeof times, ", %u times", event->times);
  if (event->kind == ORDER_GOES_ON)
    snprintf(after, sizeof after, event->after ? ", after event %" PRIu64 : ", after a copy",
             event->after);
  const mbarrier_name name = short_name(worker, event);
  fault_report_line("  %4" PRIu64 " %s %s%s%s in %s:%d%s%s", event->number,
                    event->kind == ORDER_WAITS     ? "waits in"
                    : event->kind == ORDER_GOES_ON ? "goes on from"
                                                   : "calls",
                    event->operation, name.text[0] ? " of " : "", name.text, event->file,
                    event->line, times, after);
}

static bool end_alike(const worker *worker, unsigned a, unsigned b) {
  const block_order *order = &worker->order;
  const order_event *first = &order->events[order->last[a] % ORDER_MOST];
  const order_event *second = &order->events[order->last[b] % ORDER_MOST];
  return first->kind == second->kind && first->line == second->line &&
         strcmp(first->operation, second->operation) == 0;
}

// Warps that end alike are reported once, by the first of them; those that have exited are not.
void order_report(const worker *worker) {
  enum { LAST = 4 };
  const block_order *order = &worker->order;
  const unsigned warps = (worker->thread_count + GPU_WARP_LANES - 1) / GPU_WARP_LANES;
  for (unsigned warp = 0; warp < warps; warp++) {
    bool reported = order->last[warp] == 0 || worker->warps[warp].alive == 0;
    for (unsigned before = 0; before < warp && !reported; before++)
      reported = order->last[before] > 0 && worker->warps[before].alive != 0 &&
                 end_alike(worker, before, warp);
    if (reported) continue;
    fault_report_line("the last events of warp %u, by their numbers in the block:", warp);
    uint64_t numbers[LAST];
    unsigned found = 0;
    for (uint64_t number = order->count; number >= first_kept(order) && found < LAST; number--)
      if (order->events[number % ORDER_MOST].warp == warp) numbers[found++] = number;
    while (found > 0) report_event(worker, &order->events[numbers[--found] % ORDER_MOST]);
  }
}

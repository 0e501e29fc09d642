#include "timeline/ring.h"

#include "device/device.h"
#include <stdlib.h>

static size_t event_bytes(const timeline_plan *rings) {
  return sizeof *rings->events * rings->multiprocessors * TIMELINE_WARPS * rings->slots;
}

static size_t count_bytes(const timeline_plan *rings) {
  return sizeof *rings->counts * rings->multiprocessors * TIMELINE_WARPS;
}

bool timeline_rings_create(timeline_plan *rings, unsigned first, unsigned count, unsigned slots,
                           error_text *error) {
  *rings = (timeline_plan){.first = first, .multiprocessors = count, .slots = slots};
  return device_ok(cudaMalloc((void **)&rings->events, event_bytes(rings)),
                   "allocating the rings of events", error) &&
         device_ok(cudaMalloc((void **)&rings->counts, count_bytes(rings)),
                   "allocating the counts of events", error) &&
         device_ok(cudaMemset(rings->events, 0, event_bytes(rings)), "clearing the rings", error) &&
         device_ok(cudaMemset(rings->counts, 0, count_bytes(rings)), "clearing the counts", error);
}

void timeline_rings_free(timeline_plan *rings) {
  cudaFree(rings->events);
  cudaFree(rings->counts);
  *rings = (timeline_plan){0};
}

static int in_order(const void *a, const void *b) {
  const timeline_entry *first = a, *second = b;
  if (first->place != second->place) return first->place < second->place ? -1 : 1;
  if (first->end != second->end) return first->end < second->end ? -1 : 1;
  return (first->begin > second->begin) - (first->begin < second->begin);
}

bool timeline_list_make(const timeline_event *events, const unsigned *counts, unsigned slots,
                        timeline_list *list, error_text *error) {
  *list = (timeline_list){0};
  uint64_t written = 0;
  for (unsigned place = 0; place < TIMELINE_WARPS; place++) written += counts[place];
  list->entries = malloc((written + 1) * sizeof *list->entries);
  if (!list->entries) return fail(error, "not enough memory for the events of the timeline");
  uint32_t reference = 0; // some event's time, from which the others are counted
  int64_t earliest = 0;
  for (unsigned place = 0; place < TIMELINE_WARPS; place++) {
    const timeline_event *ring = events + (size_t)place * slots;
    for (unsigned slot = 0; counts[place] > 0 && slot < slots && list->count < written; slot++) {
      const timeline_event *event = &ring[slot];
      if (event->what == 0) continue;
      if (list->count == 0) reference = event->begin;
      const timeline_entry entry = {.begin = (int32_t)(event->begin - reference),
                                    .end = (int32_t)(event->end - reference),
                                    .kind = (timeline_kind)(event->what & 31),
                                    .site = event->what >> 5,
                                    .block = event->who >> 5,
                                    .warp = event->who & 31,
                                    .place = place};
      if (entry.begin < earliest) earliest = entry.begin;
      list->entries[list->count++] = entry;
    }
  }
  for (size_t i = 0; i < list->count; i++) {
    list->entries[i].begin -= earliest;
    list->entries[i].end -= earliest;
  }
  list->lost = written - list->count;
  qsort(list->entries, list->count, sizeof *list->entries, in_order);
  return true;
}

bool timeline_list_read(const timeline_plan *rings, timeline_list *list, error_text *error) {
  *list = (timeline_list){0};
  const size_t bytes = sizeof *rings->events * TIMELINE_WARPS * rings->slots;
  unsigned counts[TIMELINE_WARPS];
  timeline_event *events = malloc(bytes);
  const bool good =
      (events || fail(error, "not enough memory for the events of the timeline")) &&
      device_ok(cudaMemcpy(events, rings->events, bytes, cudaMemcpyDeviceToHost),
                "copying the events", error) &&
      device_ok(cudaMemcpy(counts, rings->counts, sizeof counts, cudaMemcpyDeviceToHost),
                "copying the counts of events", error) &&
      timeline_list_make(events, counts, rings->slots, list, error);
  free(events);
  return good;
}

void timeline_list_free(timeline_list *list) {
  free(list->entries);
  *list = (timeline_list){0};
}

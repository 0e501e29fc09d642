#include "timeline/ring.h"

#include "device/device.h"
#include <stdlib.h>

static size_t ring_bytes(const timeline_plan *rings) {
  return sizeof *rings->events * TIMELINE_WARPS * (1 + rings->slots);
}

bool timeline_rings_create(timeline_plan *rings, error_text *error) {
  const size_t bytes = ring_bytes(rings) * rings->multiprocessors;
  rings->events = NULL;
  return device_ok(cudaMalloc((void **)&rings->events, bytes), "allocating the rings of events",
                   error) &&
         device_ok(cudaMemset(rings->events, 0, bytes), "clearing the rings of events", error);
}

void timeline_rings_free(timeline_plan *rings) {
  cudaFree(rings->events);
  rings->events = NULL;
}

static int in_order(const void *a, const void *b) {
  const timeline_entry *first = a, *second = b;
  if (first->place != second->place) return first->place < second->place ? -1 : 1;
  if (first->end != second->end) return first->end < second->end ? -1 : 1;
  return (first->begin > second->begin) - (first->begin < second->begin);
}

// An event says nothing of its warp; the begin of the warp before it does.
static void tell_warps(timeline_list *list) {
  size_t kept = 0;
  timeline_entry begin = {.kind = TIMELINE_NOTHING};
  for (size_t i = 0; i < list->count; i++) {
    timeline_entry entry = list->entries[i];
    if (entry.kind == TIMELINE_BEGIN_OF_WARP) {
      begin = entry;
      continue;
    }
    const bool told = begin.kind == TIMELINE_BEGIN_OF_WARP && begin.place == entry.place;
    entry.block = told ? begin.block : 0;
    entry.warp = told ? begin.warp : entry.place;
    list->entries[kept++] = entry;
  }
  list->count = kept;
}

// Counts the events between those that are numbered, which a kernel does from 1 on for each warp and block.
static uint64_t count_missing(const timeline_list *list) {
  uint64_t missing = 0;
  const timeline_entry *last = NULL;
  for (size_t i = 0; i < list->count; i++) {
    const timeline_entry *entry = &list->entries[i];
    if (entry->kind == TIMELINE_BEGIN_OF_WARP || entry->number == 0) continue;
    const bool goes_on = last && last->place == entry->place && last->number < entry->number;
    missing += entry->number - (goes_on ? last->number : 0) - 1;
    last = entry;
  }
  return missing;
}

bool timeline_list_make(const timeline_event *events, unsigned slots, timeline_list *list,
                        error_text *error) {
  *list = (timeline_list){0};
  size_t filled = 0;
  for (size_t i = 0; i < (size_t)TIMELINE_WARPS * (1 + slots); i++) filled += events[i].what != 0;
  list->entries = malloc((filled + 1) * sizeof *list->entries);
  if (!list->entries) return fail(error, "not enough memory for the events of the timeline");
  uint32_t reference = 0; // some event's time, from which the others are counted
  int64_t earliest = 0;
  uint64_t written = 0, kept = 0;
  for (unsigned place = 0; place < TIMELINE_WARPS; place++) {
    const timeline_event *ring = events + (size_t)place * (1 + slots);
    written += ring[0].begin;
    for (unsigned slot = 1; slot <= slots; slot++) {
      const timeline_event *event = &ring[slot];
      if (event->what == 0) continue;
      if (list->count == 0) reference = event->begin;
      const timeline_entry entry = {.begin = (int32_t)(event->begin - reference),
                                    .end = (int32_t)(event->end - reference),
                                    .kind = (timeline_kind)(event->what & 31),
                                    .site = event->what >> 5,
                                    .number = event->who,
                                    .block = event->who >> 5,
                                    .warp = event->who & 31,
                                    .place = place};
      if (entry.begin < earliest) earliest = entry.begin;
      kept += entry.kind != TIMELINE_BEGIN_OF_WARP && entry.number == 0;
      list->entries[list->count++] = entry;
    }
  }
  for (size_t i = 0; i < list->count; i++) {
    list->entries[i].begin -= earliest;
    list->entries[i].end -= earliest;
  }
  qsort(list->entries, list->count, sizeof *list->entries, in_order);
  list->lost = written - kept + count_missing(list);
  tell_warps(list);
  return true;
}

bool timeline_list_read(const timeline_plan *rings, timeline_list *list, error_text *error) {
  *list = (timeline_list){0};
  timeline_event *events = malloc(ring_bytes(rings));
  const bool good =
      (events || fail(error, "not enough memory for the events of the timeline")) &&
      device_ok(cudaMemcpy(events, rings->events, ring_bytes(rings), cudaMemcpyDeviceToHost),
                "copying the events", error) &&
      timeline_list_make(events, rings->slots, list, error);
  free(events);
  return good;
}

void timeline_list_free(timeline_list *list) {
  free(list->entries);
  *list = (timeline_list){0};
}

#define _GNU_SOURCE
#include "timeline/stretch.h"

#include <stdlib.h>
#include <string.h>

static bool same_warp(const timeline_entry *a, const timeline_entry *b) {
  return a->place == b->place && a->block == b->block && a->warp == b->warp;
}

static bool is_scores(timeline_kind kind) {
  return kind == TIMELINE_SOFTMAX || kind == TIMELINE_QUEUE_SCORES;
}
static bool is_output(timeline_kind kind) {
  return kind == TIMELINE_OUTPUT || kind == TIMELINE_QUEUE_OUTPUT;
}

void timeline_list_simplify(timeline_list *list, const timeline_sources *sources) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    timeline_entry entry = list->entries[i];
    timeline_entry *last = kept > 0 ? &list->entries[kept - 1] : NULL;
    if (entry.kind == TIMELINE_PRODUCT) {
      const timeline_where where = timeline_sources_find(sources, entry.site);
      const bool scores = strstr(where.function, "scores") || strstr(where.text, "multiply_scores");
      entry.kind = scores ? TIMELINE_QUEUE_SCORES : TIMELINE_QUEUE_OUTPUT;
    } else if (last && same_warp(last, &entry) && last->kind == entry.kind &&
               (entry.kind == TIMELINE_SOFTMAX || entry.kind == TIMELINE_OUTPUT ||
                entry.kind == TIMELINE_STORE)) {
      last->end = entry.end;
      continue;
    }
    list->entries[kept++] = entry;
  }
  list->count = kept;
}

void timeline_number_key_blocks(const timeline_list *list, unsigned *numbers) {
  unsigned scores = 0, output = 0;
  for (size_t i = 0; i < list->count; i++) {
    const timeline_entry *entry = &list->entries[i];
    if (i == 0 || !same_warp(entry - 1, entry)) scores = output = 0;
    // A ring that has lost the begin of a warp may begin with the second product of a block.
    if (is_output(entry->kind) && scores == 0 && output == 0) scores = 1;
    numbers[i] = is_scores(entry->kind) ? ++scores : is_output(entry->kind) ? ++output : 0;
  }
}

// Finds the warp with the most products of Q and K: entries [*first, *last).
static size_t busiest_warp(const timeline_list *list, size_t *first, size_t *last) {
  size_t most = 0;
  *first = *last = 0;
  for (size_t i = 0; i < list->count;) {
    size_t end = i, products = 0;
    for (; end < list->count && list->entries[end].place == list->entries[i].place; end++)
      products += is_scores(list->entries[end].kind);
    if (products > most) {
      most = products;
      *first = i;
      *last = end;
    }
    i = end;
  }
  return most;
}

static bool stores_within(const timeline_list *list, timeline_stretch stretch) {
  for (size_t i = 0; i < list->count; i++) {
    const timeline_entry *entry = &list->entries[i];
    if (entry->kind == TIMELINE_STORE && entry->end >= stretch.begin && entry->begin < stretch.end)
      return true;
  }
  return false;
}

timeline_stretch timeline_choose_stretch(const timeline_list *list, unsigned blocks) {
  size_t first = 0, last = 0;
  const size_t count = busiest_warp(list, &first, &last);
  timeline_stretch whole = {0, 0};
  for (size_t i = 0; i < list->count; i++)
    if (list->entries[i].end >= whole.end) whole.end = list->entries[i].end + 1;
  const timeline_entry **starts = malloc((count + 1) * sizeof *starts);
  if (count <= blocks || !starts) {
    free(starts);
    return whole;
  }
  size_t found = 0;
  for (size_t i = first; i < last; i++)
    if (is_scores(list->entries[i].kind)) starts[found++] = &list->entries[i];
  const size_t places = count - blocks; // where a stretch may begin
  timeline_stretch chosen = whole;
  bool steady = false;
  for (size_t distance = 0; distance <= places && !steady; distance++) {
    // places / 2, one after it, one before it, two after it
    const size_t half = (distance + 1) / 2;
    if (distance % 2 == 0 && half > places / 2) continue;
    const size_t place = distance % 2 ? places / 2 + half : places / 2 - half;
    if (place >= places) continue;
    const timeline_stretch stretch = {starts[place]->begin, starts[place + blocks]->begin};
    steady = starts[place]->block == starts[place + blocks]->block && !stores_within(list, stretch);
    if (steady || distance == 0) chosen = stretch;
  }
  free(starts);
  return chosen;
}

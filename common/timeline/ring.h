// The rings of events in device memory, and what one launch has left in them.
#ifndef TIMELINE_RING_H
#define TIMELINE_RING_H

#include "error/error.h"
#include "timeline/timeline.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Allocates rings for the plan's multiprocessors and slots, all empty.
// Returns false with a sentence when the device has not enough memory; the rings must be freed in any case.
bool timeline_rings_create(timeline_plan *rings, error_text *error);
void timeline_rings_free(timeline_plan *rings);

// An event on the host. Times are clocks since the first event of the list.
typedef struct {
  int64_t begin, end;
  timeline_kind kind;
  unsigned site;   // timeline_site_number
  unsigned block;  // of the grid; 0 where the begin of the warp is lost
  unsigned warp;   // of the block
  unsigned place;  // of the warp on the multiprocessor
  unsigned number; // of the event in its warp, from 1 on; 0 where the kernel does not number them
} timeline_entry;

typedef struct {
  size_t count;
  timeline_entry *entries; // by place, then by end
  uint64_t lost;           // events that were written over
} timeline_list;

// Copies the events of the rings' first multiprocessor to the host. A launch longer than 2^31 clocks cannot be told
// apart from a short one. Returns false with a sentence when a call fails.
bool timeline_list_read(const timeline_plan *rings, timeline_list *list, error_text *error);

// Makes a list of the rings of one multiprocessor, [TIMELINE_WARPS][1 + slots]. Returns false with a sentence when
// memory runs out.
bool timeline_list_make(const timeline_event *events, unsigned slots, timeline_list *list,
                        error_text *error);
void timeline_list_free(timeline_list *list);

#endif

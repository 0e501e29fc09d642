#define _GNU_SOURCE
#include "places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const void *pc; // of code; for a library call the address of its file's name
  emulator_site site;
  bool is_site;
} place;

enum { SLOTS = 1 << 16, PLACES_MAX = SLOTS / 2 };

static place places[PLACES_MAX]; // places[0] collects the accesses for which there was no room
static uint32_t place_count = 1;
static uint32_t slots[SLOTS]; // hash table of indices, 0 where empty

// Returns the slot of the place, or the free one to put it in (open addressing).
static uint32_t *slot_of(const place *wanted, uint64_t hash) {
  for (uint64_t i = hash * 0x9E3779B97F4A7C15u >> 48;; i++) {
    uint32_t *slot = &slots[i % SLOTS];
    const place *found = &places[*slot];
    if (*slot == 0) return slot;
    if (found->pc == wanted->pc && found->is_site == wanted->is_site &&
        found->site.line == wanted->site.line && found->site.operation == wanted->site.operation) {
      return slot;
    }
  }
}

static uint32_t number_of(const place *wanted, uint64_t hash) {
  uint32_t *slot = slot_of(wanted, hash);
  if (*slot == 0 && place_count < PLACES_MAX) {
    places[place_count] = *wanted;
    *slot = place_count++;
  }
  return *slot;
}

uint32_t place_of_code(const void *pc) {
  const place wanted = {.pc = pc};
  return number_of(&wanted, (uintptr_t)pc);
}

uint32_t place_of_site(const emulator_site *site) {
  const place wanted = {.pc = site->file, .site = *site, .is_site = true};
  return number_of(&wanted, (uintptr_t)site->operation * 31 + (uint64_t)site->line);
}

// ---- How a report describes a place -------------------------------------------------------------

static void describe_site(const emulator_site *site, place_text *text) {
  char path[sizeof text->file];
  snprintf(path, sizeof path, "%s", site->file);
  snprintf(text->file, sizeof text->file, "%s", code_line_shorten(path));
  snprintf(text->operation, sizeof text->operation, "%s", site->operation);
  text->line = site->line;
}

void places_describe(const uint32_t *numbers, size_t count, place_text *texts) {
  const void **codes = calloc(count, sizeof *codes);
  if (codes == NULL && count > 0) abort();
  for (size_t i = 0; i < count; i++) {
    const place *it = &places[numbers[i]];
    // `pc` is the address of the next instruction.
    if (!it->is_site && it->pc != NULL) codes[i] = (const char *)it->pc - 1;
  }
  code_lines_find(codes, count, texts);
  for (size_t i = 0; i < count; i++) {
    const place *it = &places[numbers[i]];
    if (it->is_site) describe_site(&it->site, &texts[i]);
  }
  free(codes);
}

// Keeps the names of the barriers in shared memory, and the last events at each of them, for reports.
#define _GNU_SOURCE
#include "known_barriers.h"

#include "address_space.h"
#include "mbarrier.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---- What happened ------------------------------------------------------------------------------

void mbarriers_begin(worker *worker) {
  worker->known_barrier_count = 0;
  worker->barrier_events = 0;
}

const known_barrier *known_barrier_of(const worker *worker, const uint64_t *barrier) {
  for (unsigned i = 0; i < worker->known_barrier_count; i++)
    if (worker->known_barriers[i].barrier == barrier) return &worker->known_barriers[i];
  return NULL;
}

static known_barrier *find(worker *worker, const uint64_t *barrier) {
  return (known_barrier *)known_barrier_of(worker, barrier);
}

void known_barrier_made(worker *worker, const uint64_t *barrier, const char *words) {
  known_barrier *known = find(worker, barrier);
  if (known == NULL && worker->known_barrier_count == KNOWN_BARRIERS) return;
  if (known == NULL) known = &worker->known_barriers[worker->known_barrier_count++];
  *known = (known_barrier){.barrier = barrier, .words = words};
}

void known_barrier_arrived(worker *worker, const uint64_t *barrier, unsigned bytes,
                           const emulator_site *site) {
  known_barrier *known = find(worker, barrier);
  if (known == NULL) return;
  if (bytes > 0) {
    known->announced = bytes;
    known->file = site->file;
    known->line = site->line;
  }
  known->arriver = worker->running->index;
  known->arrived = ++worker->barrier_events;
}

void known_barrier_ended(worker *worker, const uint64_t *barrier) {
  known_barrier *known = find(worker, barrier);
  if (known == NULL) return;
  known->phases++;
  known->announced = 0;
  known->ended = ++worker->barrier_events;
}

void known_barrier_waited(worker *worker, const uint64_t *barrier, bool at_once) {
  worker->running->last_barrier = barrier;
  worker->running->last_barrier_wait = ++worker->barrier_events;
  known_barrier *known = find(worker, barrier);
  if (known == NULL) return;
  known->waited = true;
  if (at_once) known->passed_at_once = worker->barrier_events;
}

// ---- Names --------------------------------------------------------------------------------------

// Returns how many barriers of the same words have lower addresses: the index, if the words are those of an array.
static unsigned index_among(const worker *worker, const known_barrier *wanted) {
  unsigned index = 0;
  for (unsigned i = 0; i < worker->known_barrier_count; i++) {
    const known_barrier *other = &worker->known_barriers[i];
    index += strcmp(other->words, wanted->words) == 0 && other->barrier < wanted->barrier;
  }
  return index;
}

// "&smem.K_full[stage]" -> "K_full[1]"
static int write_name(const worker *worker, const known_barrier *of, char *text,
                      size_t text_bytes) {
  const char *words = of->words;
  const char *bracket = strrchr(words, '[');
  if (bracket != NULL && (words[strlen(words) - 1] != ']' || isdigit((unsigned char)bracket[1]))) {
    bracket = NULL; // no index, or one that is a number already
  }
  const char *end = bracket != NULL ? bracket : words + strlen(words);
  const char *start = end;
  while (start > words && strchr(".>&*( ", start[-1]) == NULL) start--;
  const int length = snprintf(text, text_bytes, "%.*s", (int)(end - start), start);
  if (bracket == NULL || length < 0 || (size_t)length >= text_bytes) return length;
  return length +
         snprintf(text + length, text_bytes - (size_t)length, "[%u]", index_among(worker, of));
}

mbarrier_name mbarrier_name_of(const worker *worker, const uint64_t *barrier) {
  mbarrier_name name = {""};
  int length = 0;
  const known_barrier *known = known_barrier_of(worker, barrier);
  if (known != NULL) length = write_name(worker, known, name.text, 64);
  if (length < 0 || length >= 64) length = 0;
  snprintf(name.text + length, sizeof name.text - (size_t)length, "%sat %s", length > 0 ? ", " : "",
           address_describe(worker, barrier).text);
  return name;
}

mbarrier_name mbarrier_short_name(const worker *worker, const uint64_t *barrier) {
  mbarrier_name name = mbarrier_name_of(worker, barrier);
  name.text[strcspn(name.text, ",")] = '\0';
  return name;
}

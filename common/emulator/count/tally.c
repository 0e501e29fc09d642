#include "tally.h"

#include "fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Open addressing with linear probing; never more than half full.
typedef struct tally {
  tally_entry *entries; // an entry without code and file is free
  size_t room;          // a power of two
  size_t used;
  struct tally *next;
} tally;

enum { FIRST_ROOM = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards the list, not the tables in it
static tally *all;
static _Thread_local tally *own;

static bool is_free(const tally_entry *entry) {
  return entry->where.code == NULL && entry->where.file == NULL;
}

// The entry of the origin, or the free one where it belongs.
static tally_entry *find(const tally *table, origin where) {
  const uint64_t mixed =
      ((uintptr_t)where.code ^ (uintptr_t)where.file ^ ((uint64_t)where.line << 20)) *
      0x9E3779B97F4A7C15u; // 2^64 divided by the golden ratio: Knuth, TAOCP volume 3, section 6.4
  for (size_t i = mixed >> 40;; i++) {
    tally_entry *entry = &table->entries[i & (table->room - 1)];
    if (is_free(entry) || same_origin(entry->where, where)) return entry;
  }
}

static bool grow(tally *table) {
  const tally old = *table;
  table->room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
  table->entries = calloc(table->room, sizeof *table->entries);
  if (table->entries == NULL) {
    *table = old;
    return false;
  }
  for (size_t i = 0; i < old.room; i++) {
    if (!is_free(&old.entries[i])) *find(table, old.entries[i].where) = old.entries[i];
  }
  free(old.entries);
  return true;
}

static tally *create(void) {
  tally *table = calloc(1, sizeof *table);
  if (table == NULL || !grow(table)) {
    free(table);
    return NULL;
  }
  pthread_mutex_lock(&mutex);
  table->next = all;
  all = table;
  pthread_mutex_unlock(&mutex);
  return table;
}

count_values *tally_at(origin where) {
  if (own == NULL) own = create();
  if (own == NULL || (2 * own->used >= own->room && !grow(own))) {
    emulator_fault(cudaErrorLaunchOutOfResources, "No memory for the counts of source lines");
  }
  tally_entry *entry = find(own, where);
  if (is_free(entry)) {
    entry->where = where;
    own->used++;
  }
  return &entry->counts;
}

void tally_each(void (*visit)(const tally_entry *entry, void *context), void *context) {
  pthread_mutex_lock(&mutex);
  for (const tally *table = all; table != NULL; table = table->next) {
    for (size_t i = 0; i < table->room; i++) {
      if (!is_free(&table->entries[i])) visit(&table->entries[i], context);
    }
  }
  pthread_mutex_unlock(&mutex);
}

void tally_reset(void) {
  pthread_mutex_lock(&mutex);
  for (tally *table = all; table != NULL; table = table->next) {
    memset(table->entries, 0, table->room * sizeof *table->entries);
    table->used = 0;
  }
  pthread_mutex_unlock(&mutex);
}

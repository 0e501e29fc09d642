// The sums, for each place in a kernel's code. Every worker adds to a table of its own.
#ifndef TALLY_H
#define TALLY_H

#include "count.h"

#include <stdbool.h>

// The place where an event was counted: an address in compiled code or, if that is NULL, a source line.
typedef struct {
  const void *code;
  const char *file;
  int line;
} origin;

static inline origin origin_of_code(const void *code) { return (origin){.code = code}; }

static inline origin origin_of_site(const emulator_site *site) {
  return (origin){.file = site->file, .line = site->line};
}

static inline bool same_origin(origin a, origin b) {
  return a.code == b.code && a.line == b.line && a.file == b.file;
}

typedef struct {
  origin where;
  count_values counts;
} tally_entry;

// The calling worker's sums for the origin; add to them until
// the next call. Reports a fault when memory has run out.
count_values *tally_at(origin where);

// All entries of all workers; an origin may occur several times. Call it between launches only.
void tally_each(void (*visit)(const tally_entry *entry, void *context), void *context);

void tally_reset(void);

#endif

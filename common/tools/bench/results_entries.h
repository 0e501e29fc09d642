// The functions that results.c and results_open.c share, for entries and for texts that are written in
// memory.
#ifndef RESULTS_ENTRIES_H
#define RESULTS_ENTRIES_H

#include "bench/results.h"

// Writes the sentence that memory has run out, and returns false.
bool results_no_memory(error_text *error);

// Returns the entry of this key, or NULL when there is none.
results_entry *results_find(const results *results, const char *key);

// Makes room for an entry of this key. Keys ascend, and numbers in them ascend by value, so that the order of
// the rows does not depend on when they were measured. Returns NULL when memory runs out.
results_entry *results_make_room(results *results, const char *key);

// Adds the entry and owns its texts from then on. An entry of the same key is replaced.
bool results_put(results *results, results_entry entry, error_text *error);

// Returns the text that `write` writes, without a line break at the end; NULL when memory runs out.
typedef void results_writer(FILE *file, const void *what);
char *results_text(results_writer *write, const void *what);

// Returns the path of NAME-samples.csv.
record_path results_samples_file(const record_folder *folder, const char *name);

#endif

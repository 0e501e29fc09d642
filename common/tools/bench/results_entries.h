// What results.c and results_open.c share: the entries, and texts that are written in memory.
#ifndef RESULTS_ENTRIES_H
#define RESULTS_ENTRIES_H

#include "bench/results.h"

bool results_no_memory(error_text *error);

// NULL when there is none of this key.
results_entry *results_find(const results *results, const char *key);

// Makes room for an entry of this key, so that keys ascend, numbers in them by their value: the order of
// the rows does not depend on when they were measured. NULL when memory runs out.
results_entry *results_make_room(results *results, const char *key);

// Takes the entry's texts over. One of the same key makes way for it.
bool results_put(results *results, results_entry entry, error_text *error);

// What `write` writes, without a line break at the end; NULL when memory runs out.
typedef void results_writer(FILE *file, const void *what);
char *results_text(results_writer *write, const void *what);

// NAME-samples.csv
record_path results_samples_file(const record_folder *folder, const char *name);

#endif

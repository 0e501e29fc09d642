// The two files of a bench in memory, NAME.csv and NAME-samples.csv, with the rows of an earlier run and
// those that this run adds.
#ifndef RESULTS_H
#define RESULTS_H

#include "record/folder.h"
#include "result/result.h"

typedef struct {
  char *key;     // the columns that tell rows apart
  char *row;     // the line in NAME.csv; NULL for entries that have only samples
  char *samples; // the lines in NAME-samples.csv, one for each round; NULL when there is none
  bool timed;    // as the file has it, which was read
  bool skipped;  // the step cannot take the shape, or there was too little memory for it
  bool measured; // it was right and timed: once more would say the same
} results_entry;

typedef struct results {
  results_entry *entries;
  size_t count;
  char *comments; // whole lines, each beginning with "# "
  size_t dropped; // rows of the files that had another origin
} results;

// A row of an earlier run is kept only when it was measured with exactly these.
typedef struct {
  const char *device;
  const char *driver;
  const char *cuda;
  const char *commit;
} results_origin;

// Tells whether the commit names the code. It does not when it is unknown, or when the working tree was
// changed after it.
bool results_commit_is_certain(const char *commit);

// Reads the files, if they are there, and keeps the rows that have this origin, with their comments. Returns
// false, with an empty *results, when a file cannot be read or memory runs out.
bool results_open(const record_folder *folder, const char *name, const results_origin *origin,
                  results *results, error_text *error);
void results_free(results *results);

// They tell whether the row's step was measured on its shape, and whether it was skipped there. A step that was skipped for
// want of memory may be measured later, when no other process holds the memory.
bool results_has(const results *results, const result_row *row);
bool results_skipped(const results *results, const result_row *row);

// Returns how many rows NAME.csv has. An entry of which only samples are left has none there.
size_t results_rows(const results *results);

// Adds a row, or replaces the row that it measures again. `bursts` has its samples, or is NULL when it was
// not timed. Returns false when memory runs out.
bool results_add(results *results, const result_row *row, const timing_contender *bursts,
                 error_text *error);

// Does the same for samples without a row, which are those of nothing and of an empty kernel. They were timed
// in the row's rounds. The row gives the key, commit and date.
bool results_add_floor(results *results, const result_row *row, const timing_contender *bursts,
                       error_text *error);

// Adds lines of comments, each beginning with "# ".
bool results_comment(results *results, const char *lines, error_text *error);

// Writes both files, each whole or not at all. It writes the samples first, because a row without samples
// counts as not measured.
bool results_save(const results *results, const record_folder *folder, const char *name,
                  error_text *error);

#endif

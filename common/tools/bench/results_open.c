// Reads the files of an earlier run of the bench.
#define _GNU_SOURCE
#include "bench/results.h"

#include "bench/results_entries.h"
#include "csv/csv.h"
#include "file/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Names the first `count` fields of a line of a file, for write_fields.
typedef struct {
  const csv_table *table;
  size_t row;
  size_t count;
} table_fields;

static void write_fields(FILE *file, const void *what) {
  const table_fields *fields = what;
  for (size_t i = 0; i < fields->count; i++) {
    if (i > 0) fputc(',', file);
    csv_write_text(file, csv_text(fields->table, fields->row, i));
  }
}

// An earlier run's file must have the columns of this run's file, because its lines are copied.
static bool same_columns(const csv_table *table, void (*write_names)(FILE *file),
                         error_text *error) {
  char *names = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&names, &length);
  if (!file) return results_no_memory(error);
  write_names(file);
  fclose(file);
  char *rest = names;
  bool same = true;
  for (size_t i = 0; i < table->columns && same; i++) {
    const char *name = strsep(&rest, ",\n");
    same = name && strcmp(name, table->names[i]) == 0;
  }
  same = same && rest && *rest == '\0';
  free(names);
  return same || fail(error, "%s has other columns than this bench writes", table->path);
}

static void row_names(FILE *file) { result_write_names(file, 0); }
static void sample_names(FILE *file) { result_write_sample_names(file, 0); }

static bool has_origin(const csv_table *table, size_t row, const results_origin *origin, bool *same,
                       error_text *error) {
  const struct {
    const char *column;
    const char *value;
  } must[] = {{"device", origin->device},
              {"driver", origin->driver},
              {"cuda", origin->cuda},
              {"commit", origin->commit}};
  *same = true;
  for (size_t i = 0; i < sizeof must / sizeof must[0]; i++) {
    size_t column = 0;
    if (!csv_column(table, must[i].column, &column, error)) return false;
    *same = *same && strcmp(csv_text(table, row, column), must[i].value) == 0;
  }
  return true;
}

static bool keep_rows(const csv_table *table, const results_origin *origin, results *results,
                      error_text *error) {
  size_t check = 0;
  if (!csv_column(table, "check", &check, error)) return false;
  for (size_t row = 0; row < table->rows; row++) {
    bool same = false;
    if (!has_origin(table, row, origin, &same, error)) return false;
    results->dropped += !same;
    if (!same) continue;
    const table_fields key = {table, row, RESULT_KEY_COLUMNS};
    const table_fields all = {table, row, table->columns};
    const char *verdict = csv_text(table, row, check);
    const bool skipped = strcmp(verdict, check_verdict_name(CHECK_SKIPPED)) == 0;
    const results_entry entry = {
        .key = results_text(write_fields, &key),
        .row = results_text(write_fields, &all),
        .skipped = skipped,
        .measured = !skipped && strcmp(verdict, check_verdict_name(CHECK_FAILED)) != 0,
        .timed = strcmp(verdict, check_verdict_name(CHECK_PASSED)) == 0,
    };
    if (!results_put(results, entry, error)) return false;
  }
  return true;
}

// Adds a line to the entry's samples.
static bool append_samples(results_entry *entry, const char *line, error_text *error) {
  const size_t before = entry->samples ? strlen(entry->samples) + 1 : 0;
  char *grown = realloc(entry->samples, before + strlen(line) + 1);
  if (!grown) return results_no_memory(error);
  if (before > 0) grown[before - 1] = '\n';
  strcpy(grown + before, line);
  entry->samples = grown;
  return true;
}

// Samples of nothing and of an empty kernel have no row.
static bool is_floor(const csv_table *samples, size_t row) {
  const char *step = csv_text(samples, row, 0);
  return strcmp(step, TIMING_NOTHING) == 0 || strcmp(step, TIMING_EMPTY_KERNEL) == 0;
}

// Gives the rows their samples, of which each round has a line. A row counts as not measured when its samples
// have another date.
static bool keep_samples(const csv_table *samples, const results_origin *origin, results *results,
                         error_text *error) {
  size_t date = 0;
  size_t commit = 0;
  if (!csv_column(samples, "date", &date, error) ||
      !csv_column(samples, "commit", &commit, error)) {
    return false;
  }
  for (size_t row = 0; row < samples->rows; row++) {
    const table_fields key = {samples, row, RESULT_KEY_COLUMNS};
    const table_fields all = {samples, row, samples->columns};
    char *text = results_text(write_fields, &key);
    char *line = results_text(write_fields, &all);
    bool good = (text && line) || results_no_memory(error);
    results_entry *entry = good ? results_find(results, text) : NULL;
    if (good && !entry && is_floor(samples, row) &&
        strcmp(csv_text(samples, row, commit), origin->commit) == 0) {
      entry = results_make_room(results, text);
      good = entry || results_no_memory(error);
      if (entry) *entry = (results_entry){.key = text};
      if (entry) text = NULL; // it is the entry's now
    }
    const char *row_date = entry && entry->row ? strrchr(entry->row, ',') + 1 : NULL; // the last
    const bool same = entry && (!row_date || strcmp(row_date, csv_text(samples, row, date)) == 0);
    if (good && same) good = append_samples(entry, line, error);
    free(text);
    free(line);
    if (!good) return false;
  }
  for (size_t i = 0; i < results->count; i++) {
    results_entry *entry = &results->entries[i];
    if (entry->timed && !entry->samples) entry->measured = false;
  }
  return true;
}

static bool keep_comments(const char *path, results *results, error_text *error) {
  FILE *file = file_open(path, error);
  if (!file) return false;
  char *line = NULL;
  size_t size = 0;
  bool good = true;
  while (good && getline(&line, &size, file) >= 0) {
    if (line[0] == '#') good = results_comment(results, line, error);
  }
  free(line);
  fclose(file);
  return good;
}

bool results_open(const record_folder *folder, const char *name, const results_origin *origin,
                  results *results, error_text *error) {
  *results = (struct results){0};
  const record_path row_path = record_file(folder, name);
  const record_path sample_path = results_samples_file(folder, name);
  if (access(row_path.text, F_OK) != 0 || access(sample_path.text, F_OK) != 0) return true;
  csv_table rows = {0};
  csv_table samples = {0};
  bool good =
      csv_read(row_path.text, &rows, error) && same_columns(&rows, row_names, error) &&
      csv_read(sample_path.text, &samples, error) && same_columns(&samples, sample_names, error) &&
      keep_rows(&rows, origin, results, error) && keep_samples(&samples, origin, results, error);
  if (good && results->count > 0) good = keep_comments(row_path.text, results, error);
  csv_free(&rows);
  csv_free(&samples);
  if (!good) results_free(results);
  return good;
}

#define _GNU_SOURCE
#include "bench/results.h"

#include "csv/csv.h"
#include "file/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool no_memory(error_text *error) {
  return fail(error, "not enough memory for the results");
}

bool results_commit_is_certain(const char *commit) {
  const char *end = strrchr(commit, '-');
  return strcmp(commit, "unknown") != 0 && !(end && strcmp(end, "-dirty") == 0);
}

static void free_entry(const results_entry *entry) {
  free(entry->key);
  free(entry->row);
  free(entry->samples);
}

void results_free(results *results) {
  for (size_t i = 0; i < results->count; i++) free_entry(&results->entries[i]);
  free(results->entries);
  free(results->comments);
  *results = (struct results){0};
}

static results_entry *find(const results *results, const char *key) {
  for (size_t i = 0; i < results->count; i++) {
    if (strcmp(results->entries[i].key, key) == 0) return &results->entries[i];
  }
  return NULL;
}

// Makes room for an entry of this key, so that keys ascend, numbers in them by their value: the order of
// the rows does not depend on when they were measured. NULL when memory runs out.
static results_entry *make_room(results *results, const char *key) {
  results_entry *grown = realloc(results->entries, (results->count + 1) * sizeof *results->entries);
  if (!grown) return NULL;
  results->entries = grown;
  size_t place = 0;
  while (place < results->count && strverscmp(grown[place].key, key) < 0) place++;
  memmove(grown + place + 1, grown + place, (results->count - place) * sizeof *grown);
  results->count++;
  grown[place] = (results_entry){0};
  return &grown[place];
}

// Takes the entry's texts over. One of the same key makes way for it.
static bool put(results *results, results_entry entry, error_text *error) {
  results_entry *place = NULL;
  if (entry.key && (entry.row || entry.samples)) {
    place = find(results, entry.key);
    if (!place) place = make_room(results, entry.key);
  }
  if (!place) {
    free_entry(&entry);
    return no_memory(error);
  }
  free_entry(place);
  *place = entry;
  return true;
}

bool results_comment(results *results, const char *lines, error_text *error) {
  const size_t before = results->comments ? strlen(results->comments) : 0;
  char *grown = realloc(results->comments, before + strlen(lines) + 1);
  if (!grown) return no_memory(error);
  strcpy(grown + before, lines);
  results->comments = grown;
  return true;
}

// --- texts

// What `write` writes of the row, without a line break at the end; NULL when memory runs out.
typedef void writer(FILE *file, const void *what);

static char *text_of(writer *write, const void *what) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return NULL;
  write(file, what);
  if (fclose(file) != 0) {
    free(text);
    return NULL;
  }
  if (length > 0 && text[length - 1] == '\n') text[length - 1] = '\0';
  return text;
}

// The first `count` fields of a line of a file that was read.
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

typedef struct {
  const result_row *row;
  const timing_contender *bursts;
} new_row;

static void write_key(FILE *file, const void *what) {
  result_write_key(file, ((const new_row *)what)->row);
}
static void write_row(FILE *file, const void *what) {
  result_write(file, ((const new_row *)what)->row, NULL);
}
static void write_samples(FILE *file, const void *what) {
  const new_row *row = what;
  result_write_samples(file, row->row, row->bursts);
}

bool results_add(results *results, const result_row *row, const timing_contender *bursts,
                 error_text *error) {
  const new_row all = {row, bursts};
  const bool timed = bursts && bursts->rounds > 0;
  const results_entry entry = {
      .key = text_of(write_key, &all),
      .row = text_of(write_row, &all),
      .samples = timed ? text_of(write_samples, &all) : NULL,
      .measured = row->verdict == CHECK_SKIPPED || (row->verdict == CHECK_PASSED && timed),
  };
  if ((!timed || entry.samples) && entry.row) return put(results, entry, error);
  free_entry(&entry);
  return no_memory(error);
}

bool results_add_floor(results *results, const result_row *row, const timing_contender *bursts,
                       error_text *error) {
  const new_row all = {row, bursts};
  const results_entry entry = {
      .key = text_of(write_key, &all),
      .samples = text_of(write_samples, &all),
  };
  return put(results, entry, error);
}

bool results_has(const results *results, const result_row *row) {
  const new_row key_only = {row, NULL};
  char *key = text_of(write_key, &key_only);
  const results_entry *entry = key ? find(results, key) : NULL;
  free(key);
  return entry && entry->measured;
}

// --- reading

// The columns of an earlier run's file must be those of this one's, or its lines cannot stand in it.
static bool same_columns(const csv_table *table, void (*write_names)(FILE *file),
                         error_text *error) {
  char *names = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&names, &length);
  if (!file) return no_memory(error);
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

static void row_names(FILE *file) { result_write_names(file, false); }

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
    const results_entry entry = {
        .key = text_of(write_fields, &key),
        .row = text_of(write_fields, &all),
        .measured = strcmp(csv_text(table, row, check), "FAILED") != 0,
        .timed = strcmp(csv_text(table, row, check), "ok") == 0,
    };
    if (!put(results, entry, error)) return false;
  }
  return true;
}

// Adds a line to the entry's samples.
static bool append_samples(results_entry *entry, const char *line, error_text *error) {
  const size_t before = entry->samples ? strlen(entry->samples) + 1 : 0;
  char *grown = realloc(entry->samples, before + strlen(line) + 1);
  if (!grown) return no_memory(error);
  if (before > 0) grown[before - 1] = '\n';
  strcpy(grown + before, line);
  entry->samples = grown;
  return true;
}

// Those of what every time holds have no row.
static bool is_floor(const csv_table *samples, size_t row) {
  const char *step = csv_text(samples, row, 0);
  return strcmp(step, TIMING_NOTHING) == 0 || strcmp(step, TIMING_EMPTY_KERNEL) == 0;
}

// Gives the rows their samples, of which each round has a line. A row whose samples are of another time than
// the row is not measured.
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
    char *text = text_of(write_fields, &key);
    char *line = text_of(write_fields, &all);
    bool good = (text && line) || no_memory(error);
    results_entry *entry = good ? find(results, text) : NULL;
    if (good && !entry && is_floor(samples, row) &&
        strcmp(csv_text(samples, row, commit), origin->commit) == 0) {
      entry = make_room(results, text);
      good = entry || no_memory(error);
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
  FILE *file = fopen(path, "r");
  if (!file) return fail(error, "cannot read %s: %s", path, strerror(errno));
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

static record_path samples_file(const record_folder *folder, const char *name) {
  char samples_name[1024];
  snprintf(samples_name, sizeof samples_name, "%s-samples", name);
  return record_file(folder, samples_name);
}

bool results_open(const record_folder *folder, const char *name, const results_origin *origin,
                  results *results, error_text *error) {
  *results = (struct results){0};
  const record_path row_path = record_file(folder, name);
  const record_path sample_path = samples_file(folder, name);
  if (access(row_path.text, F_OK) != 0 || access(sample_path.text, F_OK) != 0) return true;
  csv_table rows = {0};
  csv_table samples = {0};
  bool good = csv_read(row_path.text, &rows, error) && same_columns(&rows, row_names, error) &&
              csv_read(sample_path.text, &samples, error) &&
              same_columns(&samples, result_write_sample_names, error) &&
              keep_rows(&rows, origin, results, error) &&
              keep_samples(&samples, origin, results, error);
  if (good && results->count > 0) good = keep_comments(row_path.text, results, error);
  csv_free(&rows);
  csv_free(&samples);
  if (!good) results_free(results);
  return good;
}

// --- writing

static bool save(const char *path, const results *results, bool samples, error_text *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return no_memory(error);
  if (results->comments) fputs(results->comments, file);
  if (samples) {
    result_write_sample_names(file);
  } else {
    result_write_names(file, false);
  }
  for (size_t i = 0; i < results->count; i++) {
    const results_entry *entry = &results->entries[i];
    const char *line = samples ? entry->samples : entry->row; // of samples: lines
    if (line) fprintf(file, "%s\n", line);
  }
  const bool written = fclose(file) == 0;
  const bool good = written ? file_write(path, text, length, error) : no_memory(error);
  free(text);
  return good;
}

bool results_save(const results *results, const record_folder *folder, const char *name,
                  error_text *error) {
  return save(samples_file(folder, name).text, results, true, error) &&
         save(record_file(folder, name).text, results, false, error);
}

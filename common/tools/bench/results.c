#define _GNU_SOURCE
#include "bench/results.h"

#include "bench/results_entries.h"
#include "file/file.h"
#include <stdlib.h>
#include <string.h>

bool results_no_memory(error_text *error) {
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

results_entry *results_find(const results *results, const char *key) {
  for (size_t i = 0; i < results->count; i++) {
    if (strcmp(results->entries[i].key, key) == 0) return &results->entries[i];
  }
  return NULL;
}

results_entry *results_make_room(results *results, const char *key) {
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

bool results_put(results *results, results_entry entry, error_text *error) {
  results_entry *place = NULL;
  if (entry.key && (entry.row || entry.samples)) {
    place = results_find(results, entry.key);
    if (!place) place = results_make_room(results, entry.key);
  }
  if (!place) {
    free_entry(&entry);
    return results_no_memory(error);
  }
  free_entry(place);
  *place = entry;
  return true;
}

bool results_comment(results *results, const char *lines, error_text *error) {
  const size_t before = results->comments ? strlen(results->comments) : 0;
  char *grown = realloc(results->comments, before + strlen(lines) + 1);
  if (!grown) return results_no_memory(error);
  strcpy(grown + before, lines);
  results->comments = grown;
  return true;
}

// --- texts

char *results_text(results_writer *write, const void *what) {
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
      .key = results_text(write_key, &all),
      .row = results_text(write_row, &all),
      .samples = timed ? results_text(write_samples, &all) : NULL,
      .skipped = row->verdict == CHECK_SKIPPED,
      .measured = row->verdict == CHECK_PASSED && timed,
  };
  if ((!timed || entry.samples) && entry.row) return results_put(results, entry, error);
  free_entry(&entry);
  return results_no_memory(error);
}

bool results_add_floor(results *results, const result_row *row, const timing_contender *bursts,
                       error_text *error) {
  const new_row all = {row, bursts};
  const results_entry entry = {
      .key = results_text(write_key, &all),
      .samples = results_text(write_samples, &all),
  };
  return results_put(results, entry, error);
}

static const results_entry *find_row(const results *results, const result_row *row) {
  const new_row key_only = {row, NULL};
  char *key = results_text(write_key, &key_only);
  const results_entry *entry = key ? results_find(results, key) : NULL;
  free(key);
  return entry;
}

bool results_has(const results *results, const result_row *row) {
  const results_entry *entry = find_row(results, row);
  return entry && entry->measured;
}

bool results_skipped(const results *results, const result_row *row) {
  const results_entry *entry = find_row(results, row);
  return entry && entry->skipped;
}

size_t results_rows(const results *results) {
  size_t rows = 0;
  for (size_t i = 0; i < results->count; i++) rows += results->entries[i].row != NULL;
  return rows;
}

// --- writing

record_path results_samples_file(const record_folder *folder, const char *name) {
  char samples_name[1024];
  snprintf(samples_name, sizeof samples_name, "%s-samples", name);
  return record_file(folder, samples_name);
}

static bool save(const char *path, const results *results, bool samples, error_text *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return results_no_memory(error);
  if (results->comments) fputs(results->comments, file);
  if (samples) {
    result_write_sample_names(file, 0);
  } else {
    result_write_names(file, 0);
  }
  for (size_t i = 0; i < results->count; i++) {
    const results_entry *entry = &results->entries[i];
    const char *line = samples ? entry->samples : entry->row; // of samples: lines
    if (line) fprintf(file, "%s\n", line);
  }
  const bool written = fclose(file) == 0;
  const bool good = written ? file_write(path, text, length, error) : results_no_memory(error);
  free(text);
  return good;
}

bool results_save(const results *results, const record_folder *folder, const char *name,
                  error_text *error) {
  return save(results_samples_file(folder, name).text, results, true, error) &&
         save(record_file(folder, name).text, results, false, error);
}

#define _GNU_SOURCE // access
#include "compare/recording.h"

#include "shape/shape.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What names a row in both files. Up to COMMIT it also tells the rows of one file apart.
enum { STEP, CONFIGURATION, DEVICE, DTYPE, BATCH, CAUSAL = 10, COMMIT, DATE, KEYS };
static const char *const keys[KEYS] = {"step",   "configuration", "device", "dtype",  "batch",
                                       "heads",  "kv_heads",      "seq_q",  "seq_kv", "head_dim",
                                       "causal", "commit",        "date"};

typedef struct {
  size_t columns[KEYS];
} key_columns;

static bool find_keys(const csv_table *table, key_columns *found, error_text *error) {
  for (int i = 0; i < KEYS; i++) {
    if (!csv_column(table, keys[i], &found->columns[i], error)) return false;
  }
  return true;
}

static bool equal_keys(const csv_table *a, const key_columns *a_keys, size_t a_row,
                       const csv_table *b, const key_columns *b_keys, size_t b_row, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(csv_text(a, a_row, a_keys->columns[i]), csv_text(b, b_row, b_keys->columns[i])) != 0)
      return false;
  }
  return true;
}

static bool read_shape(const csv_table *table, const key_columns *columns, size_t row,
                       attention_shape *shape, error_text *error) {
  int *const sizes[] = {&shape->batch, &shape->heads,  &shape->kv_heads,
                        &shape->seq_q, &shape->seq_kv, &shape->head_dim};
  int64_t value = 0;
  for (int i = BATCH; i < CAUSAL; i++) {
    if (!csv_integer(table, row, columns->columns[i], 1, INT_MAX, &value, error)) return false;
    *sizes[i - BATCH] = (int)value;
  }
  if (!csv_integer(table, row, columns->columns[CAUSAL], 0, 1, &value, error)) return false;
  shape->causal = value == 1;
  const char *dtype = csv_text(table, row, columns->columns[DTYPE]);
  for (int i = ATTENTION_FP16; i <= ATTENTION_BF16; i++) {
    shape->dtype = (attention_dtype)i;
    if (strcmp(dtype, shape_dtype_name(shape->dtype)) == 0) return true;
  }
  return fail(error, "dtype in line %zu of %s is \"%s\": it can be fp16 or bf16", table->lines[row],
              table->path, dtype);
}

// The text's numbers, which must be as many as `count`.
static bool read_samples(const csv_table *table, size_t row, size_t column, size_t count,
                         double *microseconds, error_text *error) {
  const char *text = csv_text(table, row, column);
  size_t found = 0;
  for (char *end = NULL; *text; text = end) {
    const double sample = strtod(text, &end);
    if (end == text || (*end && *end != ' ') || !(sample > 0 && sample < HUGE_VAL)) {
      return fail(error, "sample %zu in line %zu of %s is no time: \"%.*s\"", found + 1,
                  table->lines[row], table->path, (int)strcspn(text, " "), text);
    }
    if (found < count) microseconds[found] = sample;
    found++;
    if (*end) end++;
  }
  return found == count || fail(error,
                                "line %zu of %s has %zu samples, and its row in the record "
                                "says that it has %zu",
                                table->lines[row], table->path, found, count);
}

static bool find_samples(recording *recording, const key_columns *columns, const csv_table *samples,
                         error_text *error) {
  key_columns sample_columns;
  size_t count_column = 0;
  size_t microseconds = 0;
  const csv_table *table = &recording->table;
  if (!find_keys(samples, &sample_columns, error) ||
      !csv_column(samples, "microseconds", &microseconds, error) ||
      !csv_column(table, "samples", &count_column, error)) {
    return false;
  }
  for (size_t row = 0; row < recording->count; row++) {
    measurement *measurement = &recording->measurements[row];
    if (*csv_text(table, row, count_column) == '\0') continue; // not timed
    int64_t count = 0;
    if (!csv_integer(table, row, count_column, 1, INT_MAX, &count, error)) return false;
    size_t match = 0;
    while (match < samples->rows &&
           !equal_keys(table, columns, row, samples, &sample_columns, match, KEYS)) {
      match++;
    }
    if (match == samples->rows) {
      return fail(error,
                  "%s has no samples for line %zu of %s (%s, %s, commit %s, %s): they belong "
                  "to another run, record both again",
                  samples->path, table->lines[row], table->path, measurement->step,
                  shape_describe(&measurement->shape).text,
                  csv_text(table, row, columns->columns[COMMIT]),
                  csv_text(table, row, columns->columns[DATE]));
    }
    measurement->samples = (size_t)count;
    measurement->microseconds = malloc((size_t)count * sizeof *measurement->microseconds);
    if (!measurement->microseconds) return fail(error, "not enough memory for the samples");
    if (!read_samples(samples, match, microseconds, (size_t)count, measurement->microseconds,
                      error)) {
      return false;
    }
  }
  return true;
}

static bool read_measurements(recording *recording, const key_columns *columns, error_text *error) {
  const csv_table *table = &recording->table;
  size_t check = 0;
  if (!csv_column(table, "check", &check, error)) return false;
  if (table->rows == 0) return fail(error, "%s holds no rows", table->path);
  recording->measurements = calloc(table->rows, sizeof *recording->measurements);
  if (!recording->measurements) return fail(error, "not enough memory for %s", table->path);
  recording->count = table->rows;
  recording->device = csv_text(table, 0, columns->columns[DEVICE]);
  for (size_t row = 0; row < table->rows; row++) {
    measurement *measurement = &recording->measurements[row];
    measurement->row = row;
    measurement->step = csv_text(table, row, columns->columns[STEP]);
    measurement->configuration = csv_text(table, row, columns->columns[CONFIGURATION]);
    measurement->check = csv_text(table, row, check);
    if (!read_shape(table, columns, row, &measurement->shape, error)) return false;
    const char *device = csv_text(table, row, columns->columns[DEVICE]);
    if (strcmp(device, recording->device) != 0) {
      return fail(error, "line %zu of %s is of another device (%s) than the lines before it (%s)",
                  table->lines[row], table->path, device, recording->device);
    }
    for (size_t other = 0; other < row; other++) {
      if (equal_keys(table, columns, row, table, columns, other, COMMIT)) {
        return fail(error, "lines %zu and %zu of %s are of the same step and shape (%s, %s)",
                    table->lines[other], table->lines[row], table->path, measurement->step,
                    shape_describe(&measurement->shape).text);
      }
    }
  }
  return true;
}

// NAME-samples.csv for NAME.csv.
static bool name_samples(const char *path, char *samples, size_t size, error_text *error) {
  const size_t stem = strlen(path) > 4 ? strlen(path) - 4 : 0;
  if (strcmp(path + stem, ".csv") != 0) {
    return fail(error, "%s is no record: its name does not end with .csv", path);
  }
  const int length = snprintf(samples, size, "%.*s-samples.csv", (int)stem, path);
  return (length > 0 && (size_t)length < size) || fail(error, "the name %s is too long", path);
}

bool recording_read(const char *path, recording *recording, error_text *error) {
  char samples_path[4096];
  csv_table samples = {0};
  key_columns columns;
  *recording = (struct recording){0};
  bool good = name_samples(path, samples_path, sizeof samples_path, error) &&
              csv_read(path, &recording->table, error);
  if (good && access(samples_path, F_OK) != 0) {
    good = fail(error,
                "there is no %s with the raw samples of %s: make bench and make peers write "
                "one beside their records; a record without cannot be compared",
                samples_path, path);
  }
  good = good && csv_read(samples_path, &samples, error) &&
         find_keys(&recording->table, &columns, error) &&
         read_measurements(recording, &columns, error) &&
         find_samples(recording, &columns, &samples, error);
  csv_free(&samples);
  if (!good) recording_free(recording);
  return good;
}

void recording_free(recording *recording) {
  for (size_t i = 0; i < recording->count; i++) free(recording->measurements[i].microseconds);
  free(recording->measurements);
  csv_free(&recording->table);
  *recording = (struct recording){0};
}

const char *recording_cell(const recording *recording, const measurement *measurement,
                           const char *column) {
  size_t found = 0;
  error_text none;
  if (!csv_column(&recording->table, column, &found, &none)) return "";
  return csv_text(&recording->table, measurement->row, found);
}

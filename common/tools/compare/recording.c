#define _GNU_SOURCE // access
#include "compare/recording.h"

#include "shape/shape.h"
#include "statistics/statistics.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// These columns identify a row in both files. Those up to COMMIT also tell the rows of one file apart. Those
// from BATCH to RISING are numbers. The last two of these are not in every record, and have default values
// here.
enum {
  STEP,
  CONFIGURATION,
  DEVICE,
  DTYPE,
  BATCH,
  CAUSAL = 10,
  DEVIATION,
  RISING,
  COMMIT,
  DATE,
  KEYS
};
static const char *const keys[KEYS] = {"step",   "configuration",   "device", "dtype",  "batch",
                                       "heads",  "kv_heads",        "seq_q",  "seq_kv", "head_dim",
                                       "causal", "score_deviation", "rising", "commit", "date"};
static const char *const usual[KEYS] = {[DEVIATION] = "1", [RISING] = "0"};
static const size_t no_column = (size_t)-1;

typedef struct {
  size_t columns[KEYS];
} key_columns;

static bool find_keys(const csv_table *table, key_columns *found, error_text *error) {
  for (int i = 0; i < KEYS; i++) {
    error_text ignored;
    if (csv_column(table, keys[i], &found->columns[i], usual[i] ? &ignored : error)) continue;
    if (!usual[i]) return false;
    found->columns[i] = no_column;
  }
  return true;
}

static const char *key_text(const csv_table *table, const key_columns *columns, size_t row,
                            int key) {
  const size_t column = columns->columns[key];
  return column == no_column ? usual[key] : csv_text(table, row, column);
}

// Tells whether the texts are equal, or, for numbers, their values.
static bool equal_values(const char *a, const char *b, bool numbers) {
  if (strcmp(a, b) == 0) return true;
  char *a_end = NULL;
  char *b_end = NULL;
  return numbers && *a && *b && strtod(a, &a_end) == strtod(b, &b_end) && !*a_end && !*b_end;
}

static bool equal_keys(const csv_table *a, const key_columns *a_keys, size_t a_row,
                       const csv_table *b, const key_columns *b_keys, size_t b_row, int count) {
  for (int i = 0; i < count; i++) {
    const bool numbers = i >= BATCH && i <= RISING;
    if (!equal_values(key_text(a, a_keys, a_row, i), key_text(b, b_keys, b_row, i), numbers)) {
      return false;
    }
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

// The launches of one round, with their count and their median in microseconds.
typedef struct {
  size_t count;
  double median;
} round_samples;

static bool read_round(const csv_table *table, size_t row, size_t column, round_samples *round,
                       error_text *error) {
  const char *text = csv_text(table, row, column);
  double *samples = malloc((strlen(text) / 2 + 1) * sizeof *samples);
  *round = (round_samples){0};
  if (!samples) return fail(error, "not enough memory for the samples");
  bool good = true;
  for (char *end = NULL; *text && good; text = end) {
    const double sample = strtod(text, &end);
    good = (end != text && (!*end || *end == ' ') && sample > 0 && sample < HUGE_VAL) ||
           fail(error, "sample %zu in line %zu of %s is no time: \"%.*s\"", round->count + 1,
                table->lines[row], table->path, (int)strcspn(text, " "), text);
    samples[round->count++] = sample;
    if (good && *end) end++;
  }
  round->median = statistics_median(samples, round->count);
  free(samples);
  return good && (round->count > 0 ||
                  fail(error, "line %zu of %s has no samples", table->lines[row], table->path));
}

// The columns that hold the numbers of rows and samples.
typedef struct {
  size_t samples, rounds;     // of the record
  size_t round, microseconds; // of the samples
} count_columns;

static bool find_counts(const csv_table *table, const csv_table *samples, count_columns *found,
                        error_text *error) {
  return csv_column(table, "samples", &found->samples, error) &&
         csv_column(table, "rounds", &found->rounds, error) &&
         csv_column(samples, "round", &found->round, error) &&
         csv_column(samples, "microseconds", &found->microseconds, error);
}

// The rounds of one row, in the order of the file, which is the order in which they were measured.
static bool find_rounds(const csv_table *table, const key_columns *columns, size_t row,
                        const csv_table *samples, const key_columns *sample_columns,
                        const count_columns *counts, measurement *measurement, error_text *error) {
  int64_t launches = 0, rounds = 0, number = 0;
  size_t found = 0;
  if (!csv_integer(table, row, counts->samples, 1, INT_MAX, &launches, error) ||
      !csv_integer(table, row, counts->rounds, 1, STATISTICS_MOST_RUNS, &rounds, error)) {
    return false;
  }
  measurement->microseconds = malloc((size_t)rounds * sizeof *measurement->microseconds);
  if (!measurement->microseconds) return fail(error, "not enough memory for the samples");
  for (size_t match = 0; match < samples->rows; match++) {
    if (!equal_keys(table, columns, row, samples, sample_columns, match, KEYS)) continue;
    round_samples round;
    if (!csv_integer(samples, match, counts->round, 0, INT_MAX, &number, error) ||
        !read_round(samples, match, counts->microseconds, &round, error)) {
      return false;
    }
    if (measurement->rounds == (size_t)rounds || number != (int64_t)measurement->rounds) {
      return fail(error, "line %zu of %s is of round %lld, and should be of round %zu of %lld",
                  samples->lines[match], samples->path, (long long)number, measurement->rounds,
                  (long long)rounds);
    }
    measurement->microseconds[measurement->rounds++] = round.median;
    found += round.count;
  }
  if (measurement->rounds == 0) {
    return fail(error,
                "%s has no samples for line %zu of %s (%s, %s, commit %s, %s): they belong "
                "to another run, record both again",
                samples->path, table->lines[row], table->path, measurement->step,
                shape_describe(&measurement->shape).text, measurement->commit, measurement->date);
  }
  return (measurement->rounds == (size_t)rounds && found == (size_t)launches) ||
         fail(error, "%s has %zu samples in %zu rounds for line %zu of %s, which says %lld in %lld",
              samples->path, found, measurement->rounds, table->lines[row], table->path,
              (long long)launches, (long long)rounds);
}

static bool find_samples(recording *recording, const key_columns *columns, const csv_table *samples,
                         error_text *error) {
  key_columns sample_columns;
  count_columns counts;
  const csv_table *table = &recording->table;
  if (!find_keys(samples, &sample_columns, error) || !find_counts(table, samples, &counts, error)) {
    return false;
  }
  for (size_t row = 0; row < recording->count; row++) {
    if (*csv_text(table, row, counts.samples) == '\0') continue; // not timed
    if (!find_rounds(table, columns, row, samples, &sample_columns, &counts,
                     &recording->measurements[row], error)) {
      return false;
    }
  }
  return true;
}

static bool read_measurements(recording *recording, const key_columns *columns, error_text *error) {
  const csv_table *table = &recording->table;
  size_t check = 0, floor = 0;
  error_text ignored;
  const bool has_floor = csv_column(table, "floor_ms", &floor, &ignored);
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
    measurement->commit = csv_text(table, row, columns->columns[COMMIT]);
    measurement->date = csv_text(table, row, columns->columns[DATE]);
    measurement->score_deviation = strtod(key_text(table, columns, row, DEVIATION), NULL);
    measurement->rising = strtod(key_text(table, columns, row, RISING), NULL) != 0;
    const char *floor_ms = has_floor ? csv_text(table, row, floor) : "";
    measurement->floor_us = *floor_ms ? 1000 * strtod(floor_ms, NULL) : NAN;
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

// Returns the path NAME-samples.csv for NAME.csv.
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
                "there is no %s with the raw samples of %s: every record of times has one beside "
                "it, and one without cannot be compared",
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

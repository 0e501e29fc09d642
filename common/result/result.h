// One line of a record, which holds the result of one step on one shape. The files of the ladder, of sweeps
// and of the bench have these columns; so has the file of the peers (common/tools/peers).
#ifndef RESULT_H
#define RESULT_H

#include "check/check.h"
#include "device/device.h"
#include "record/record.h"
#include "timing/figures.h"
#include "timing/floor.h"

// For a step that takes less than this many milliseconds, the time of an empty kernel is printed beside its
// time.
#define RESULT_SHORT_MS 0.02

// The speed-up of a row's step over another that was timed with it, from pairs of one round.
typedef struct {
  const char *to;           // the other's name, or a configuration; NULL where there is none
  statistics_ratio speedup; // above 1: the row's step is faster
} result_speedup;

typedef struct {
  const char *step;          // such as "04_online_softmax"
  const char *variant;       // of the step; "" for the step itself; NULL in a file without variants
  const char *configuration; // NULL where the step chose, or has only one
  const char *device;
  attention_shape shape;
  const char *inputs;     // the name of their kind (inputs.h)
  check_verdict verdict;  // skipped: a shape that the step or the GPU's memory cannot take
  check_result check;     // unless skipped
  size_t workspace_bytes; // likewise
  timing_figures figures; // times.samples is 0 when none was taken; then what follows says nothing
  timing_floor floor;     // of the same rounds
  result_speedup first;   // against the first of the steps, or in a sweep against the fastest
  result_speedup before;  // against the one before it
  result_speedup same;    // against that one in one configuration, whose name is in `to`
  record_conditions conditions;
} result_row;

// Returns the speed in 10^12 operations a second at the median time, for the pairs of rows that the mask leaves
// visible; NaN when no time was taken.
double result_tflops(const attention_shape *shape, const statistics_summary *times);

// The columns that tell rows apart, from step to causal, come first in every file. They are this many, and one more in
// a file with variants. This function writes their values alone, without a line break.
enum { RESULT_KEY_COLUMNS = 11 };
void result_write_key(FILE *file, const result_row *row);

// These columns are not in every file.
enum {
  RESULT_COUNTS =
      1, // the last ones: what the emulator counted; empty where it has counted no launch
  RESULT_VARIANTS = 2, // behind the step: its variant, where rows have one
};

// They write the line of names, with the names of these columns, and a line of values. A value that does not
// apply is empty. The counts follow the values, unless `counts` is NULL.
void result_write_names(FILE *file, unsigned columns);
void result_write(FILE *file, const result_row *row, const device_counts *counts);

// Returns how many times as fast as `other` `own` is, from the rounds that both have. The result calls `other` `name`.
result_speedup result_compare(const timing_contender *own, const timing_contender *other,
                              const char *name);

// They do the same for a file of raw samples. It has a line for each round, with the times of the launches in
// microseconds, in the order they were taken, the time of a launch in the replayed graph, and the GPU's state
// at the end. The row gives the key, commit and date.
void result_write_sample_names(FILE *file, unsigned columns);
void result_write_samples(FILE *file, const result_row *row, const timing_contender *contender);

// Adds the columns of the shape, from dtype to causal.
void result_add_shape(csv_line *line, const attention_shape *shape);

// Adds the columns of a burst alone, for a file whose rows have another key.
void result_add_burst(csv_line *line, size_t round, const timing_burst *burst);

// Adds the columns of the figures, from `rounds` to `run_power_w`, and, unless `floor` is NULL, those from `graph_ms`
// to `floor_nothing_ms`. All are empty unless `timed` is set.
void result_add_figures(csv_line *line, bool timed, const timing_figures *figures,
                        const timing_floor *floor);

// Adds a column for each of the counts, from launches to async_copy_bytes. The columns are empty unless
// `present` is set.
void result_add_counts(csv_line *line, bool present, const device_counts *counts);

#endif

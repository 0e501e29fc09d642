// One line of a record: what one step did on one shape. The files of the ladder, of sweeps and of the
// bench hold these columns; so does that of the peers (common/tools/peers).
#ifndef RESULT_H
#define RESULT_H

#include "check/check.h"
#include "device/device.h"
#include "record/record.h"
#include "timing/figures.h"
#include "timing/floor.h"

// Below this many milliseconds, the time of an empty kernel is worth a look beside the step's.
#define RESULT_SHORT_MS 0.02

// How many times as fast a row's step is as another that was timed with it, from pairs of one round.
typedef struct {
  const char *to; // the other's name, or in a sweep its configuration; NULL where there is none
  statistics_ratio speedup; // above 1: the row's step is faster
} result_speedup;

typedef struct {
  const char *step;          // such as "04_online_softmax"
  const char *variant;       // of the step; "" for the step itself; NULL in a file without variants
  const char *configuration; // NULL where the step chose, or has only one
  const char *device;
  attention_shape shape;
  check_verdict verdict;  // skipped: a shape that the step or the GPU's memory cannot take
  check_result check;     // unless skipped
  size_t workspace_bytes; // likewise
  timing_figures figures; // times.samples is 0 when none was taken; then what follows says nothing
  timing_floor floor;     // of the same rounds
  result_speedup first;   // against the first of the steps, or in a sweep against the fastest
  result_speedup before;  // against the one before it
  record_conditions conditions;
} result_row;

// 10^12 operations a second at the median time, over the pairs of rows that the mask leaves visible;
// NaN when no time was taken.
double result_tflops(const attention_shape *shape, const statistics_summary *times);

// The columns that tell rows apart, step to causal, come first in every file; their values alone, without
// a line break.
enum { RESULT_KEY_COLUMNS = 11 };
void result_write_key(FILE *file, const result_row *row);

// Columns that not every file has.
enum {
  RESULT_COUNTS =
      1, // the last ones: what the emulator counted; empty where it has counted no launch
  RESULT_VARIANTS = 2, // behind the step: its variant, where rows have one
};

// The line of names, with those of these columns, and a line of values. A value that does not apply is empty.
// Behind the values stand the counts, unless `counts` is NULL.
void result_write_names(FILE *file, unsigned columns);
void result_write(FILE *file, const result_row *row, const device_counts *counts);

// Compares the two: `other` is called `name`.
result_speedup result_compare(const timing_contender *own, const timing_contender *other,
                              const char *name);

// The same for a file of raw samples: a line for each round, with the launches in microseconds, in the order
// they were taken, a launch of the replayed graph, and the GPU's state at the end. The row tells the key,
// commit and date.
void result_write_sample_names(FILE *file, unsigned columns);
void result_write_samples(FILE *file, const result_row *row, const timing_contender *contender);

// The columns of a burst alone, for a file whose rows have another key.
void result_add_burst(csv_line *line, size_t round, const timing_burst *burst);

// The columns of the figures from `rounds` to `run_power_w`, likewise.
void result_add_figures(csv_line *line, bool timed, const timing_figures *figures,
                        const timing_floor *floor);

// Adds a column for each of the counts, from launches to async_copy_bytes; empty unless `present`.
void result_add_counts(csv_line *line, bool present, const device_counts *counts);

#endif

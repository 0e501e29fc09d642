// One line of a record: what one step did on one shape. The files of the ladder, of sweeps and of the
// bench hold these columns; so does that of the peers (common/peers).
#ifndef RESULT_H
#define RESULT_H

#include "check/check.h"
#include "device/device.h"
#include "record/record.h"
#include "statistics/summary.h"

typedef struct {
  const char *step;          // such as "04_online_softmax"
  const char *configuration; // NULL where the step chose, or has only one
  const char *device;
  attention_shape shape;
  check_verdict verdict;    // skipped: a shape that the step or the GPU's memory cannot take
  check_result check;       // unless skipped
  size_t workspace_bytes;   // likewise
  statistics_summary times; // milliseconds; samples is 0 when none was taken
  record_conditions conditions;
} result_row;

// 10^12 operations a second at the median time, over the pairs of rows that the mask leaves visible;
// NaN when no time was taken.
double result_tflops(const attention_shape *shape, const statistics_summary *times);

// The columns that tell rows apart, step to causal, come first in every file; their values alone, without
// a line break.
enum { RESULT_KEY_COLUMNS = 11 };
void result_write_key(FILE *file, const result_row *row);

// The line of names, and a line of values. A value that does not apply is empty. With `counts`, the
// columns of what the emulator counted follow, which are empty where it has counted no launch.
void result_write_names(FILE *file, bool counts);
void result_write(FILE *file, const result_row *row, const device_counts *counts);

// The same for a file of raw samples, in microseconds, in the order they were taken.
void result_write_sample_names(FILE *file);
void result_write_samples(FILE *file, const result_row *row, const double *milliseconds);

// Adds a column for each of the counts, from launches to async_copy_bytes; empty unless `present`.
void result_add_counts(csv_line *line, bool present, const device_counts *counts);

#endif

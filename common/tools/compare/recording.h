// Reads a record with its raw samples, as make ladder, sweep, bench, peers and spread write them.
#ifndef RECORDING_H
#define RECORDING_H

#include "attention.h"
#include "csv/csv.h"

typedef struct {
  const char *step;          // such as "04_online_softmax"
  const char *configuration; // "" for the step's own choice
  const char *check;         // "ok", "FAILED" or "skipped"
  const char *commit, *date; // of the measuring: the same for all that was timed together
  attention_shape shape;     // its scale is not recorded
  double score_deviation;    // of the scores; 1 where the record does not tell
  bool rising;               // the scores grow along the keys
  double
      floor_us;  // that an empty kernel took in the same rounds; NaN where the record does not tell
  size_t row;    // of the table
  size_t rounds; // 0 when the row was not timed
  double *microseconds; // [rounds]: the median of each round's launches
} measurement;

typedef struct recording {
  csv_table table;
  const char *device; // of all rows
  size_t count;
  measurement *measurements; // [count]: one for each row of the table
} recording;

// Reads NAME.csv and, beside it, NAME-samples.csv. Returns false with a sentence, and an empty recording,
// when either cannot be read, when NAME.csv has no rows, when its rows are of several devices, when a step has one shape
// twice, and when a timed row's samples are missing, of another run (commit, date) or not as many as the row
// says. Numbers are compared by their value, so that 8 and 8.00 are equal.
bool recording_read(const char *path, recording *recording, error_text *error);

// Releases the memory that recording_read allocated and zeroes the recording. A zeroed recording may be freed
// too.
void recording_free(recording *recording);

// Returns the cell of the measurement's row in the column of that name, or "" where there is no such column.
const char *recording_cell(const recording *recording, const measurement *measurement,
                           const char *column);

#endif

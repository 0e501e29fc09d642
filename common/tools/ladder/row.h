// Writes the ladder's steps for the terminal and for the record.
#ifndef ROW_H
#define ROW_H

#include "result/result.h"
#include "step/step.h"

typedef struct ladder_row {
  const attention_step *step;
  const char *unsupported; // why the step cannot take the shape, or is not run; NULL when it is
  result_row result;
  const timing_contender *bursts; // NULL when it was not timed
  device_counts counts;           // of one run, on the emulator
  // The step and the step before it, both in one configuration (pairs.c); NULL when they have none in common.
  const struct ladder_row *same, *before_in_same;
  const char *same_configuration; // of row `same`
} ladder_row;

// Returns a name such as "04_online_softmax", or "04_online_softmax, variant no_pad".
typedef struct {
  char text[128];
} row_name_text;
row_name_text row_name(const ladder_row *row);

// Says on stderr what is wrong with the result of the row.
void row_print_verdict(const ladder_row *row);

// Prints the table for the terminal, with counts on the emulator and times on a GPU.
void row_print_table(FILE *file, const device_info *device, const attention_shape *shape,
                     const ladder_row *rows, size_t count);

// Writes the same as CSV, with a line of names first.
void row_write_csv(FILE *file, const ladder_row *rows, size_t count);

#endif

// One step's line of the ladder, for the terminal and for the record.
#ifndef ROW_H
#define ROW_H

#include "check/check.h"
#include "device/device.h"
#include "step/step.h"

typedef struct {
  const attention_step *step;
  const char *unsupported; // why the step cannot take the shape; NULL when it can
  check_result check;
  bool right;
  size_t workspace_bytes;
  device_counts counts; // of one run, on the emulator
  size_t samples;       // on a GPU; 0 when the step was not timed
  double median_ms;
  double low_ms, high_ms; // 95 % bootstrap interval of the median
  double tflops;
} ladder_row;

// The table for the terminal: counts on the emulator, times on a GPU.
void row_print_table(FILE *file, const device_info *device, const attention_shape *shape,
                     const ladder_row *rows, size_t count);

// The same as CSV, a header line first. Empty fields where there is no value.
void row_write_csv(FILE *file, const device_info *device, const attention_shape *shape,
                   const ladder_row *rows, size_t count);

#endif

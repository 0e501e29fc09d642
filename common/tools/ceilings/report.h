// The measured ceilings, for the terminal and for the record.
#ifndef CEILINGS_REPORT_H
#define CEILINGS_REPORT_H

#include "ceilings/vendor.h"
#include "record/record.h"
#include "timing/figures.h"

// The value of a rate is the work of a launch divided by its time. The value of a latency is the time of a launch
// divided by its work, which is the number of loads that it makes one after the other.
typedef enum { CEILING_RATE, CEILING_LATENCY } ceiling_kind;

typedef struct {
  const char *name;
  const char *unit;
  double unit_size; // of a rate: bytes or operations a second in one unit; of a latency: seconds
  ceiling_kind kind;
  double work;            // of a launch: bytes, operations, or loads
  timing_figures figures; // times: milliseconds of a launch
  record_conditions conditions;
} ceiling_result;

// Returns the value of a launch that takes this time, in the result's unit.
double ceiling_value(const ceiling_result *result, double milliseconds);

// They write the line of names, and a line of values.
void ceiling_write_names(FILE *file);
void ceiling_write(FILE *file, const device_info *device, const ceiling_result *result);

// They do the same for the samples, with a line for each round. The value is that at the median
// of the rounds' medians.
void ceiling_write_sample_names(FILE *file);
void ceiling_write_samples(FILE *file, const device_info *device, const ceiling_result *result,
                           const timing_contender *contender);

// They write the same for the terminal, aligned.
void ceiling_print_head(FILE *file, const device_info *device);
void ceiling_print(FILE *file, const device_info *device, const ceiling_result *result);

#endif

// What a run has found out: for a reader, or as comma-separated values for a program.
#ifndef REPORT_H
#define REPORT_H

#include "check/check.h"
#include "device/device.h"
#include "driver/options.h"

typedef enum { CHECK_SKIPPED, CHECK_PASSED, CHECK_FAILED } check_verdict;

// Of the samples of one step, in milliseconds.
typedef struct {
  size_t samples;
  double median;
  double low, high; // 95 % bootstrap interval of the median; NaN when one sample gives none
  double p5, p95;   // 5th and 95th percentile
} report_times;

typedef struct {
  const char *step;    // such as "04_online_softmax"
  const char *summary; // what the step adds
  const char *device;
  attention_shape shape;
  const char *q, *k, *v; // the files that the inputs come from, or NULL, and then:
  inputs_kind inputs;
  uint64_t seed;
  check_verdict verdict;
  check_result check; // unless skipped
  size_t workspace_bytes;
  report_times times;   // samples is 0 when none was taken
  bool emulated;        // then there are counts in place of times
  device_counts counts; // of one run
} report;

// Aligned lines, one fact each.
void report_print(FILE *out, const report *report);

// Two lines: the names of the columns, and their values. A value that does not apply is empty.
void report_print_csv(FILE *out, const report *report);

// 10^12 operations a second at the median time, over the pairs of rows that the mask leaves visible;
// NaN when no time was taken.
double report_tflops(const report *report);

#endif

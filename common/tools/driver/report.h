// Reports the results of a run, for a reader or as comma-separated values for a program.
#ifndef REPORT_H
#define REPORT_H

#include "options/options.h"
#include "result/result.h"

typedef struct {
  const char *step;    // such as "04_online_softmax"
  const char *summary; // what the step adds
  const char *source;  // path of a source that is not the one in steps/, else NULL
  const char *device;
  int gpus; // that share the rows; 0 for a step that works on one
  attention_shape shape;
  const char *q, *k, *v; // the files that the inputs come from, or NULL, and then:
  inputs_kind inputs;
  uint64_t seed;
  check_verdict verdict;
  check_result check; // unless skipped
  bool o_alone;       // lse was not asked for
  size_t workspace_bytes;
  timing_figures figures; // milliseconds
  timing_floor floor;     // of the same rounds
  const char *untimed;    // why there are no times though the result is right; NULL when there are
  bool emulated;          // then there are counts instead of times
  device_counts counts;   // of one run
} report;

// Prints aligned lines, one fact each.
void report_print(FILE *out, const report *report);

// Prints two lines, the names of the columns and their values. A value that does not apply is
// empty.
void report_print_csv(FILE *out, const report *report);

#endif

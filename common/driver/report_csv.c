// The report as comma-separated values (RFC 4180).
#include "driver/report.h"

#include "csv/csv.h"
#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

// The list of columns is walked twice, for the names and for the values, so that the two lines cannot
// come apart.
typedef struct {
  FILE *out;
  bool names;
  int columns; // so far
} csv_line;

static void begin_column(csv_line *line, const char *name) {
  if (line->columns++ > 0) fputc(',', line->out);
  if (line->names) fputs(name, line->out);
}

// `present` is false where the value does not apply.
__attribute__((format(printf, 4, 5))) static void
add_number(csv_line *line, const char *name, bool present, const char *format, ...) {
  begin_column(line, name);
  if (line->names || !present) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(line->out, format, arguments);
  va_end(arguments);
}

static void add_text(csv_line *line, const char *name, const char *text) {
  begin_column(line, name);
  if (!line->names) csv_write_text(line->out, text);
}

static void print_line(FILE *out, const report *report, bool names) {
  static const char *const verdicts[] = {
      [CHECK_SKIPPED] = "skipped", [CHECK_PASSED] = "ok", [CHECK_FAILED] = "FAILED"};
  const attention_shape *shape = &report->shape;
  const check_result *check = &report->check;
  const report_times *times = &report->times;
  const device_counts *counts = &report->counts;
  const bool made = report->q == NULL;
  const bool checked = report->verdict != CHECK_SKIPPED;
  const bool timed = times->samples > 0;
  const bool interval = timed && isfinite(times->low);
  const bool counted = report->emulated;
  csv_line line = {out, names, 0};

  add_text(&line, "step", report->step);
  add_text(&line, "device", report->device);
  add_text(&line, "dtype", shape_dtype_name(shape->dtype));
  add_number(&line, "batch", true, "%d", shape->batch);
  add_number(&line, "heads", true, "%d", shape->heads);
  add_number(&line, "kv_heads", true, "%d", shape->kv_heads);
  add_number(&line, "seq_q", true, "%d", shape->seq_q);
  add_number(&line, "seq_kv", true, "%d", shape->seq_kv);
  add_number(&line, "head_dim", true, "%d", shape->head_dim);
  add_number(&line, "causal", true, "%d", shape->causal);
  add_number(&line, "scale", true, "%.9g", (double)shape->scale);
  add_text(&line, "inputs", made ? inputs_name(report->inputs) : "files");
  add_number(&line, "seed", made, "%" PRIu64, report->seed);
  add_text(&line, "check", verdicts[report->verdict]);
  add_number(&line, "o_error", checked, "%.9g", check->o_error);
  add_number(&line, "o_bound", checked, "%.9g", check->o_bound);
  add_number(&line, "lse_error", checked, "%.9g", check->lse_error);
  add_number(&line, "workspace_bytes", true, "%zu", report->workspace_bytes);
  add_number(&line, "samples", timed, "%zu", times->samples);
  add_number(&line, "median_ms", timed, "%.9g", times->median);
  add_number(&line, "ci_low_ms", interval, "%.9g", times->low);
  add_number(&line, "ci_high_ms", interval, "%.9g", times->high);
  add_number(&line, "p5_ms", timed, "%.9g", times->p5);
  add_number(&line, "p95_ms", timed, "%.9g", times->p95);
  add_number(&line, "tflops", timed, "%.9g", report_tflops(report));
  add_number(&line, "launches", counted, "%" PRIu64, counts->launches);
  add_number(&line, "blocks", counted, "%" PRIu64, counts->blocks);
  add_number(&line, "threads", counted, "%" PRIu64, counts->threads);
  add_number(&line, "block_barriers", counted, "%" PRIu64, counts->block_barriers);
  add_number(&line, "warp_collectives", counted, "%" PRIu64, counts->warp_collectives);
  add_number(&line, "tensor_core_operations", counted, "%" PRIu64, counts->tensor_core_operations);
  add_number(&line, "async_copy_bytes", counted, "%" PRIu64, counts->async_copy_bytes);
  fputc('\n', out);
}

void report_print_csv(FILE *out, const report *report) {
  print_line(out, report, true);
  print_line(out, report, false);
}

#include "result/result.h"

#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>

double result_tflops(const attention_shape *shape, const statistics_summary *times) {
  if (times->samples == 0) return NAN;
  return shape_operations(shape) / (times->median * 1e-3) * 1e-12;
}

// Which step on which shape: the columns that rows are told apart by.
static void add_key(csv_line *line, const result_row *row) {
  const attention_shape *shape = &row->shape;
  csv_line_text(line, "step", row->step);
  csv_line_text(line, "configuration", row->configuration);
  csv_line_text(line, "device", row->device);
  csv_line_text(line, "dtype", shape_dtype_name(shape->dtype));
  csv_line_number(line, "batch", true, "%d", shape->batch);
  csv_line_number(line, "heads", true, "%d", shape->heads);
  csv_line_number(line, "kv_heads", true, "%d", shape->kv_heads);
  csv_line_number(line, "seq_q", true, "%d", shape->seq_q);
  csv_line_number(line, "seq_kv", true, "%d", shape->seq_kv);
  csv_line_number(line, "head_dim", true, "%d", shape->head_dim);
  csv_line_number(line, "causal", true, "%d", shape->causal);
}

void result_add_counts(csv_line *line, bool present, const device_counts *counts) {
  csv_line_number(line, "launches", present, "%" PRIu64, counts->launches);
  csv_line_number(line, "blocks", present, "%" PRIu64, counts->blocks);
  csv_line_number(line, "threads", present, "%" PRIu64, counts->threads);
  csv_line_number(line, "block_barriers", present, "%" PRIu64, counts->block_barriers);
  csv_line_number(line, "warp_collectives", present, "%" PRIu64, counts->warp_collectives);
  csv_line_number(line, "tensor_core_operations", present, "%" PRIu64,
                  counts->tensor_core_operations);
  csv_line_number(line, "async_copy_bytes", present, "%" PRIu64, counts->async_copy_bytes);
}

static void write_line(FILE *file, bool names, const result_row *row, const device_counts *counts) {
  const statistics_summary *times = &row->times;
  const bool checked = row->verdict != CHECK_SKIPPED;
  const bool timed = checked && times->samples > 0;
  const bool interval = timed && isfinite(times->low);
  csv_line line = csv_line_begin(file, names);
  add_key(&line, row);
  csv_line_text(&line, "check", check_verdict_name(row->verdict));
  csv_line_number(&line, "o_error", checked, "%.6g", row->check.o_error);
  csv_line_number(&line, "o_bound", checked, "%.6g", row->check.o_bound);
  csv_line_number(&line, "lse_error", checked, "%.6g", row->check.lse_error);
  csv_line_number(&line, "workspace_bytes", checked, "%zu", row->workspace_bytes);
  csv_line_number(&line, "samples", timed, "%zu", times->samples);
  csv_line_number(&line, "median_ms", timed, "%.6g", times->median);
  csv_line_number(&line, "ci_low_ms", interval, "%.6g", times->low);
  csv_line_number(&line, "ci_high_ms", interval, "%.6g", times->high);
  csv_line_number(&line, "p5_ms", timed, "%.6g", times->p5);
  csv_line_number(&line, "p95_ms", timed, "%.6g", times->p95);
  csv_line_number(&line, "tflops", timed, "%.6g", result_tflops(&row->shape, times));
  record_add_columns(&line, &row->conditions);
  if (counts) result_add_counts(&line, counts->launches > 0, counts);
  csv_line_end(&line);
}

static void write_sample_line(FILE *file, bool names, const result_row *row,
                              const double *milliseconds) {
  csv_line line = csv_line_begin(file, names);
  add_key(&line, row);
  csv_line_text(&line, "commit", row->conditions.origin.commit);
  csv_line_text(&line, "date", row->conditions.origin.date);
  csv_line_text(&line, "microseconds", NULL);
  for (size_t i = 0; i < row->times.samples && !names; i++) {
    fprintf(file, "%s%.3f", i > 0 ? " " : "", milliseconds[i] * 1e3);
  }
  csv_line_end(&line);
}

static const result_row no_row; // stands where only names are written
static const device_counts no_counts;

void result_write_key(FILE *file, const result_row *row) {
  csv_line line = csv_line_begin(file, false);
  add_key(&line, row);
}

void result_write_names(FILE *file, bool counts) {
  write_line(file, true, &no_row, counts ? &no_counts : NULL);
}

void result_write(FILE *file, const result_row *row, const device_counts *counts) {
  write_line(file, false, row, counts);
}

void result_write_sample_names(FILE *file) { write_sample_line(file, true, &no_row, NULL); }

void result_write_samples(FILE *file, const result_row *row, const double *milliseconds) {
  write_sample_line(file, false, row, milliseconds);
}

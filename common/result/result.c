#include "result/result.h"

#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>

double result_tflops(const attention_shape *shape, const statistics_summary *times) {
  if (times->samples == 0) return NAN;
  return shape_operations(shape) / (times->median * 1e-3) * 1e-12;
}

void result_add_shape(csv_line *line, const attention_shape *shape) {
  csv_line_text(line, "dtype", shape_dtype_name(shape->dtype));
  csv_line_number(line, "batch", true, "%d", shape->batch);
  csv_line_number(line, "heads", true, "%d", shape->heads);
  csv_line_number(line, "kv_heads", true, "%d", shape->kv_heads);
  csv_line_number(line, "seq_q", true, "%d", shape->seq_q);
  csv_line_number(line, "seq_kv", true, "%d", shape->seq_kv);
  csv_line_number(line, "head_dim", true, "%d", shape->head_dim);
  csv_line_number(line, "causal", true, "%d", shape->causal);
}

// Adds the columns that tell rows apart, with the step and the shape.
static void add_key(csv_line *line, const result_row *row) {
  csv_line_text(line, "step", row->step);
  if (row->variant) csv_line_text(line, "variant", row->variant);
  csv_line_text(line, "configuration", row->configuration);
  csv_line_text(line, "device", row->device);
  result_add_shape(line, &row->shape);
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

void result_add_figures(csv_line *line, bool timed, const timing_figures *figures,
                        const timing_floor *floor) {
  const statistics_summary *graph = &figures->graph;
  const bool replayed = timed && graph->runs > 0;
  csv_line_number(line, "rounds", timed, "%zu", figures->times.runs);
  csv_line_number(line, "throttled_rounds", timed, "%zu", figures->throttled_rounds);
  csv_line_number(line, "throttled", timed, "%d", timing_throttled(figures));
  csv_line_value(line, "run_clock_mhz", 6, timed ? figures->sm_clock_mhz : NAN);
  csv_line_value(line, "run_power_w", 6, timed ? figures->power_w : NAN);
  if (!floor) return;
  csv_line_value(line, "graph_ms", 6, replayed ? graph->median : NAN);
  csv_line_value(line, "graph_ci_low_ms", 6, replayed ? graph->low : NAN);
  csv_line_value(line, "graph_ci_high_ms", 6, replayed ? graph->high : NAN);
  csv_line_value(line, "floor_ms", 6, timed ? floor->empty_kernel : NAN);
  csv_line_value(line, "floor_graph_ms", 6, timed ? floor->empty_kernel_graph : NAN);
  csv_line_value(line, "floor_nothing_ms", 6, timed ? floor->nothing : NAN);
}

result_speedup result_compare(const timing_contender *own, const timing_contender *other,
                              const char *name) {
  return (result_speedup){name, timing_ratio(other, own)};
}

// Adds columns such as base_step, speedup, speedup_low, speedup_high.
static void add_speedup(csv_line *line, const char *const names[4], bool timed,
                        const result_speedup *speedup) {
  const bool present = timed && speedup->to && isfinite(speedup->speedup.ratio);
  csv_line_text(line, names[0], present ? speedup->to : NULL);
  csv_line_value(line, names[1], 6, present ? speedup->speedup.ratio : NAN);
  csv_line_value(line, names[2], 6, present ? speedup->speedup.interval.low : NAN);
  csv_line_value(line, names[3], 6, present ? speedup->speedup.interval.high : NAN);
}

static void write_line(FILE *file, bool names, const result_row *row, const device_counts *counts) {
  static const char *const first[4] = {"base_step", "speedup", "speedup_low", "speedup_high"};
  static const char *const before[4] = {"before_step", "speedup_before", "speedup_before_low",
                                        "speedup_before_high"};
  static const char *const same[4] = {"same_configuration", "speedup_same", "speedup_same_low",
                                      "speedup_same_high"};
  const statistics_summary *times = &row->figures.times;
  const bool checked = row->verdict != CHECK_SKIPPED;
  const bool timed = checked && times->samples > 0;
  const bool interval = timed && isfinite(times->low);
  csv_line line = csv_line_begin(file, names);
  add_key(&line, row);
  csv_line_text(&line, "inputs", row->inputs);
  csv_line_number(&line, "scale", true, "%.9g", (double)row->shape.scale);
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
  result_add_figures(&line, timed, &row->figures, &row->floor);
  add_speedup(&line, first, timed, &row->first);
  add_speedup(&line, before, timed, &row->before);
  add_speedup(&line, same, timed, &row->same);
  record_add_columns(&line, &row->conditions);
  if (counts) result_add_counts(&line, counts->launches > 0, counts);
  csv_line_end(&line);
}

void result_add_burst(csv_line *line, size_t round, const timing_burst *burst) {
  csv_line_number(line, "round", true, "%zu", round);
  csv_line_number(line, "place", true, "%zu", burst->place);
  csv_line_number(line, "throttled", true, "%d", burst->throttled);
  csv_line_value(line, "sm_clock_mhz", 6, burst->state.sm_clock_mhz);
  csv_line_value(line, "power_w", 6, burst->state.power_w);
  csv_line_number(line, "graph_microseconds", isfinite(burst->graph_ms), "%.3f",
                  burst->graph_ms * 1e3);
  csv_line_text(line, "microseconds", NULL);
  for (size_t i = 0; i < burst->launches && !line->names; i++) {
    fprintf(line->out, "%s%.3f", i > 0 ? " " : "", burst->milliseconds[i] * 1e3);
  }
}

static void write_sample_line(FILE *file, bool names, const result_row *row, size_t round,
                              const timing_burst *burst) {
  csv_line line = csv_line_begin(file, names);
  add_key(&line, row);
  csv_line_text(&line, "commit", row->conditions.origin.commit);
  csv_line_text(&line, "date", row->conditions.origin.date);
  result_add_burst(&line, round, burst);
  csv_line_end(&line);
}

// These empty values are passed where only the names are written.
static const device_counts no_counts;

static result_row no_row(unsigned columns) {
  return (result_row){.variant = columns & RESULT_VARIANTS ? "" : NULL};
}

void result_write_key(FILE *file, const result_row *row) {
  csv_line line = csv_line_begin(file, false);
  add_key(&line, row);
}

void result_write_names(FILE *file, unsigned columns) {
  const result_row row = no_row(columns);
  write_line(file, true, &row, columns & RESULT_COUNTS ? &no_counts : NULL);
}

void result_write(FILE *file, const result_row *row, const device_counts *counts) {
  write_line(file, false, row, counts);
}

void result_write_sample_names(FILE *file, unsigned columns) {
  static const timing_burst no_burst;
  const result_row row = no_row(columns);
  write_sample_line(file, true, &row, 0, &no_burst);
}

void result_write_samples(FILE *file, const result_row *row, const timing_contender *contender) {
  for (size_t i = 0; i < contender->rounds; i++) {
    write_sample_line(file, false, row, i, &contender->bursts[i]);
  }
}

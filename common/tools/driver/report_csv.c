// The report as comma-separated values (RFC 4180).
#include "driver/report.h"

#include "csv/line.h"
#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>

static void print_line(FILE *out, const report *report, bool names) {
  const attention_shape *shape = &report->shape;
  const check_result *check = &report->check;
  const timing_figures *figures = &report->figures;
  const statistics_summary *times = &figures->times;
  const bool made = report->q == NULL;
  const bool checked = report->verdict != CHECK_SKIPPED;
  const bool timed = times->samples > 0;
  const bool interval = timed && isfinite(times->low);
  csv_line line = csv_line_begin(out, names);

  csv_line_text(&line, "step", report->step);
  csv_line_text(&line, "device", report->device);
  result_add_shape(&line, shape);
  csv_line_number(&line, "scale", true, "%.9g", (double)shape->scale);
  csv_line_text(&line, "inputs", made ? inputs_name(report->inputs) : "files");
  csv_line_number(&line, "seed", made, "%" PRIu64, report->seed);
  csv_line_text(&line, "check", check_verdict_name(report->verdict));
  csv_line_number(&line, "o_error", checked, "%.9g", check->o_error);
  csv_line_number(&line, "o_bound", checked, "%.9g", check->o_bound);
  csv_line_number(&line, "lse_error", checked && !report->o_alone, "%.9g", check->lse_error);
  csv_line_number(&line, "workspace_bytes", true, "%zu", report->workspace_bytes);
  csv_line_number(&line, "samples", timed, "%zu", times->samples);
  csv_line_number(&line, "median_ms", timed, "%.9g", times->median);
  csv_line_number(&line, "ci_low_ms", interval, "%.9g", times->low);
  csv_line_number(&line, "ci_high_ms", interval, "%.9g", times->high);
  csv_line_number(&line, "p5_ms", timed, "%.9g", times->p5);
  csv_line_number(&line, "p95_ms", timed, "%.9g", times->p95);
  csv_line_number(&line, "tflops", timed, "%.9g", result_tflops(shape, times));
  csv_line_number(&line, "rounds", timed, "%zu", times->runs);
  csv_line_number(&line, "throttled_rounds", timed, "%zu", figures->throttled_rounds);
  csv_line_number(&line, "graph_ms", timed && figures->graph.runs > 0, "%.9g",
                  figures->graph.median);
  csv_line_number(&line, "floor_ms", timed && isfinite(report->floor.empty_kernel), "%.9g",
                  report->floor.empty_kernel);
  result_add_counts(&line, report->emulated, &report->counts);
  csv_line_end(&line);
}

void report_print_csv(FILE *out, const report *report) {
  print_line(out, report, true);
  print_line(out, report, false);
}

// Writes the line of a contender to the record, and prints it for the reader.
#include "csv/line.h"
#include "groups/session.h"
#include "result/result.h"
#include "shape/shape.h"
#include "statistics/statistics.h"
#include "statistics/summary.h"

// The bytes of K and V that reach a rank from the others in one launch.
static double arriving_bytes(const attention_shape *shape, int gpus) {
  return 2.0 * sizeof(uint16_t) * (double)shape_kv_count(shape) * (gpus - 1) / gpus;
}

void groups_write_row(FILE *file, bool names, const session *s, const contender *c,
                      const attention_shape *shape, const record_conditions *conditions) {
  const statistics_summary times =
      statistics_summarise(c->milliseconds, (size_t)s->rounds, c->milliseconds, (size_t)s->rounds);
  const double one = statistics_median(s->contenders[0].milliseconds, (size_t)s->rounds);
  const double bytes = arriving_bytes(shape, c->gpus);
  csv_line line = csv_line_begin(file, names);
  csv_line_text(&line, "step", c->step.name);
  csv_line_text(&line, "variant", c->variant ? c->variant : "");
  csv_line_text(&line, "device", s->device.name);
  csv_line_number(&line, "gpus", true, "%d", c->gpus);
  result_add_shape(&line, shape);
  csv_line_text(&line, "check", c->checked ? "ok" : "skipped"); // a wrong result ends the program
  csv_line_number(&line, "median_ms", true, "%.9g", times.median);
  csv_line_number(&line, "ci_low_ms", true, "%.9g", times.low);
  csv_line_number(&line, "ci_high_ms", true, "%.9g", times.high);
  csv_line_number(&line, "tflops", c->checked, "%.9g", result_tflops(shape, &times));
  csv_line_number(&line, "efficiency", c->checked, "%.4f", one / c->gpus / times.median);
  csv_line_number(&line, "arriving_bytes", !c->variant, "%.0f", bytes); // others of some variants
  csv_line_number(&line, "gb_per_s", !c->checked, "%.1f", bytes / times.median * 1e-6);
  record_add_columns(&line, conditions);
  csv_line_end(&line);
}

void groups_print_row(const session *s, const contender *c, const attention_shape *shape) {
  const double median = statistics_median(c->milliseconds, (size_t)s->rounds);
  const double one = statistics_median(s->contenders[0].milliseconds, (size_t)s->rounds);
  printf("%8d  %-6s  %-18s  %4d  %9.4f ms", shape->seq_q, shape->causal ? "causal" : "full",
         c->variant ? c->variant : c->step.name, c->gpus, median);
  if (c->checked)
    printf("  %6.1f %%\n", 100 * one / c->gpus / median);
  else
    printf("  %6.1f GB/s\n", arriving_bytes(shape, c->gpus) / median * 1e-6);
  fflush(stdout);
}

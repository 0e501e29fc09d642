// Writes the lines of a contender to the record and to its samples, and prints its time for the reader.
#include "csv/line.h"
#include "groups/session.h"
#include "result/result.h"
#include "shape/shape.h"
#include <math.h>

static const timing_contender *timed(const session *s, const contender *c) {
  return &s->timed[c - s->contenders];
}

// The copies of K and V alone on as many GPUs; NULL where they are not timed.
static const contender *link_of(const session *s, const contender *c) {
  for (int i = 0; i < s->count; i++)
    if (s->contenders[i].part == GROUPS_COPIES && s->contenders[i].gpus == c->gpus)
      return &s->contenders[i];
  return NULL;
}

groups_result groups_result_of(const session *s, const contender *c, const attention_shape *shape) {
  const statistics_ratio none = {NAN, {NAN, NAN}};
  groups_result result = {
      .figures = timing_figure(timed(s, c)),
      .efficiency = none,
      .arriving_bytes =
          2.0 * sizeof(uint16_t) * (double)shape_kv_count(shape) * (c->gpus - 1) / c->gpus,
      .gb_per_s = NAN,
      .link_gb_per_s = NAN,
      .link_share = NAN,
  };
  if (groups_computes(c)) {
    const statistics_ratio over_one = timing_ratio(timed(s, &s->contenders[0]), timed(s, c));
    result.efficiency = (statistics_ratio){
        over_one.ratio / c->gpus,
        {over_one.interval.low / c->gpus, over_one.interval.high / c->gpus},
    };
  } else {
    result.gb_per_s = result.arriving_bytes / result.figures.times.median * 1e-6;
  }
  const contender *link = link_of(s, c);
  if (link) {
    const double milliseconds = timing_figure(timed(s, link)).times.median;
    result.link_gb_per_s = result.arriving_bytes / milliseconds * 1e-6;
    result.link_share = timing_ratio(timed(s, link), timed(s, c)).ratio;
  }
  if (c->variant) result.arriving_bytes = result.link_share = NAN; // some move other bytes
  if (c->part == GROUPS_PRODUCTS || c->part == GROUPS_MEETING) {
    result.arriving_bytes = 0;
    result.gb_per_s = result.link_share = NAN;
  }
  return result;
}

// Adds the columns that tell rows apart.
static void add_key(csv_line *line, const session *s, const contender *c,
                    const attention_shape *shape) {
  csv_line_text(line, "step", c->step.name);
  csv_line_text(line, "variant", c->variant ? c->variant : "");
  csv_line_text(line, "device", s->device.name);
  csv_line_number(line, "gpus", true, "%d", c->gpus);
  result_add_shape(line, shape);
}

void groups_write_row(FILE *file, bool names, const session *s, const contender *c,
                      const attention_shape *shape, const record_conditions *conditions) {
  const groups_result result = groups_result_of(s, c, shape);
  const statistics_summary *times = &result.figures.times;
  csv_line line = csv_line_begin(file, names);
  add_key(&line, s, c, shape);
  csv_line_text(&line, "check",
                groups_computes(c) ? "ok" : "skipped"); // a wrong result ends the program
  csv_line_number(&line, "workspace_bytes", true, "%zu",
                  c->step.group_workspace_bytes(shape, c->gpus));
  csv_line_value(&line, "median_ms", 9, times->median);
  csv_line_value(&line, "ci_low_ms", 9, times->low);
  csv_line_value(&line, "ci_high_ms", 9, times->high);
  csv_line_number(&line, "tflops", groups_computes(c), "%.9g", result_tflops(shape, times));
  csv_line_number(&line, "launches_in_a_row", true, "%d", c->launches);
  result_add_figures(&line, true, &result.figures, NULL);
  csv_line_value(&line, "efficiency", 5, result.efficiency.ratio);
  csv_line_value(&line, "efficiency_low", 5, result.efficiency.interval.low);
  csv_line_value(&line, "efficiency_high", 5, result.efficiency.interval.high);
  csv_line_number(&line, "arriving_bytes", isfinite(result.arriving_bytes), "%.0f",
                  result.arriving_bytes);
  csv_line_value(&line, "gb_per_s", 5, result.gb_per_s);
  csv_line_value(&line, "link_gb_per_s", 5, result.link_gb_per_s);
  csv_line_value(&line, "link_share", 5, result.link_share);
  record_add_columns(&line, conditions);
  csv_line_end(&line);
}

static void write_sample(FILE *file, bool names, const session *s, const contender *c,
                         const attention_shape *shape, const record_conditions *conditions,
                         size_t round) {
  csv_line line = csv_line_begin(file, names);
  add_key(&line, s, c, shape);
  csv_line_number(&line, "launches_in_a_row", true, "%d", c->launches);
  csv_line_text(&line, "commit", conditions->origin.commit);
  csv_line_text(&line, "date", conditions->origin.date);
  result_add_burst(&line, round, &c->bursts[round]);
  csv_line_end(&line);
}

void groups_write_samples(FILE *file, bool names, const session *s, const contender *c,
                          const attention_shape *shape, const record_conditions *conditions) {
  const size_t lines = names ? 1 : timed(s, c)->rounds;
  for (size_t round = 0; round < lines; round++)
    write_sample(file, names, s, c, shape, conditions, round);
}

void groups_print_row(const session *s, const contender *c, const attention_shape *shape) {
  const groups_result result = groups_result_of(s, c, shape);
  const statistics_ratio *efficiency = &result.efficiency;
  printf("%8d  %-6s  %-18s  %4d  %9.4f ms", shape->seq_q, shape->causal ? "causal" : "full",
         c->variant ? c->variant : c->step.name, c->gpus, result.figures.times.median);
  if (groups_computes(c)) {
    printf("  %6.1f %%", 100 * efficiency->ratio);
    if (isfinite(efficiency->interval.low))
      printf(" [%.1f, %.1f]", 100 * efficiency->interval.low, 100 * efficiency->interval.high);
  } else if (isfinite(result.gb_per_s)) {
    printf("  %6.1f GB/s", result.gb_per_s);
  }
  puts(timing_throttled(&result.figures) ? ", throttled" : "");
  fflush(stdout);
}

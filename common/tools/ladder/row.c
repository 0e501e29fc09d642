#include "ladder/row.h"

#include "shape/shape.h"
#include <math.h>
#include <string.h>

// Writes a size such as "8.59 GB", in powers of ten, as memory bandwidths are given.
static const char *bytes_text(size_t bytes, char text[16]) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 1000 && unit < 4; unit++) value /= 1000;
  snprintf(text, 16, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

row_name_text row_name(const ladder_row *row) {
  const char *variant = row->result.variant && *row->result.variant ? row->result.variant : NULL;
  row_name_text name;
  const char *kind = variant ? ", variant " : "";
  const char *which = variant ? variant : "";
  if (!variant && row->step->configuration) {
    kind = ", configuration ";
    which = row->step->configuration;
  }
  snprintf(name.text, sizeof name.text, "%s%s%s", row->step->name, kind, which);
  return name;
}

void row_print_verdict(const ladder_row *row) {
  fprintf(stderr, "%s: %s: %s\n", check_verdict_name(row->result.verdict), row_name(row).text,
          row->result.check.message.text);
}

// Returns the text that tells the row from the others. It is the configuration in a sweep, or the variant,
// else what the step adds.
static const char *row_text(const ladder_row *row) {
  const char *variant = row->result.variant;
  if (variant) return *variant ? variant : "the step itself";
  return row->step->configuration ? row->step->configuration : row->step->summary;
}

// Where there is no other step to compare with, the column stays empty.
static void print_speedup(FILE *file, const result_speedup *speedup) {
  if (speedup->to && isfinite(speedup->speedup.ratio)) {
    fprintf(file, "  %9.2f", speedup->speedup.ratio);
  } else {
    fprintf(file, "  %9s", "");
  }
}

// Where the step chose another configuration, the one that both steps had follows the number.
static void print_same(FILE *file, const ladder_row *row) {
  const char *to = row->result.same.to;
  print_speedup(file, &row->result.same);
  if (!to) return;
  if (row->same != row || row->before_in_same->step->configuration) fprintf(file, " in %s", to);
}

// Writes a heading such as "x step 01", with the first of the steps that were timed.
typedef struct {
  char text[16];
} column_name;

static column_name first_column(const ladder_row *rows, size_t count) {
  column_name name = {"x first"};
  for (size_t i = 0; i < count; i++) {
    const char *to = rows[i].result.first.to;
    if (!to) continue;
    snprintf(name.text, sizeof name.text, "x step %.*s", (int)strcspn(to, "_"), to);
    break;
  }
  return name;
}

void row_print_table(FILE *file, const device_info *device, const attention_shape *shape,
                     const ladder_row *rows, size_t count) {
  int name = 4, summary = 4; // the widest: columns of the step, and of what it adds
  for (size_t i = 0; i < count; i++) {
    const int lengths[2] = {(int)strlen(rows[i].step->name), (int)strlen(row_text(&rows[i]))};
    if (lengths[0] > name) name = lengths[0];
    if (lengths[1] > summary) summary = lengths[1];
  }
  fprintf(file, "\n%s on %s\n\n", shape_describe(shape).text, device->name);
  const bool variants = rows[0].result.variant != NULL;
  fprintf(file, "%-*s  %-*s  %-6s  %11s  %9s", name, "step", summary, variants ? "variant" : "adds",
          "check", "error/bound", "workspace");
  if (device->emulated) {
    fprintf(file, "  %8s  %6s  %8s  %8s  %9s  %8s  %11s\n", "launches", "blocks", "threads",
            "barriers", "warp ops", "tensor", "async bytes");
  } else {
    fprintf(file, "  %9s  %8s  %9s  %9s\n", "median ms", "TFLOP/s",
            rows[0].step->configuration ? "x fastest" : first_column(rows, count).text,
            variants ? "" : "x before  same tile");
  }
  for (size_t i = 0; i < count; i++) {
    const ladder_row *row = &rows[i];
    char bytes[16];
    fprintf(file, "%-*s  %-*s  ", name, row->step->name, summary, row_text(row));
    if (row->unsupported) {
      fprintf(file, "skipped: %s\n", row->unsupported);
      continue;
    }
    const result_row *result = &row->result;
    fprintf(file, "%-6s  %11.3f  %9s", check_verdict_name(result->verdict),
            result->check.o_error == 0 ? 0 : result->check.o_error / result->check.o_bound,
            bytes_text(result->workspace_bytes, bytes));
    if (device->emulated) {
      fprintf(file, "  %8llu  %6llu  %8llu  %8llu  %9llu  %8llu  %11llu\n",
              (unsigned long long)row->counts.launches, (unsigned long long)row->counts.blocks,
              (unsigned long long)row->counts.threads,
              (unsigned long long)row->counts.block_barriers,
              (unsigned long long)row->counts.warp_collectives,
              (unsigned long long)row->counts.tensor_core_operations,
              (unsigned long long)row->counts.async_copy_bytes);
    } else if (result->figures.times.samples == 0) {
      fprintf(file, "  %9s\n", "not timed");
    } else {
      const timing_figures *figures = &result->figures;
      fprintf(file, "  %9.*f  %8.2f", figures->times.median < 1 ? 4 : 3, figures->times.median,
              result_tflops(&result->shape, &figures->times));
      print_speedup(file, &result->first);
      print_speedup(file, &result->before);
      if (!variants) print_same(file, row);
      if (figures->throttled_rounds > 0) {
        fprintf(file, "  throttled %zu/%zu", figures->throttled_rounds, figures->times.runs);
      }
      fputc('\n', file);
    }
  }
  fputc('\n', file);
}

void row_write_csv(FILE *file, const ladder_row *rows, size_t count) {
  result_write_names(file, RESULT_COUNTS | (rows[0].result.variant ? RESULT_VARIANTS : 0));
  for (size_t i = 0; i < count; i++) result_write(file, &rows[i].result, &rows[i].counts);
}

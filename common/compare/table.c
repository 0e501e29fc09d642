#include "compare/table.h"

#include "shape/shape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- the table

typedef struct {
  char text[192];
} row_name;

static row_name name_row(const measurement *row) {
  row_name name;
  snprintf(name.text, sizeof name.text, "%s%s%s", row->step, *row->configuration ? " " : "",
           row->configuration);
  return name;
}

static int longer(int width, const char *text) {
  const int length = (int)strlen(text);
  return length > width ? length : width;
}

static const char *p_text(double p, char text[16]) {
  snprintf(text, 16, p < 0.0001 ? "< 0.0001" : "%.4f", p);
  return text;
}

static const char *interval_text(statistics_interval interval, char text[32]) {
  if (isnan(interval.low)) return "-";
  snprintf(text, 32, "%.3f to %.3f", interval.low, interval.high);
  return text;
}

static void print_comparisons(FILE *file, const pairing *pairing) {
  int step = 4;
  int shape = 5;
  for (size_t i = 0; i < pairing->count; i++) {
    step = longer(step, name_row(pairing->comparisons[i].new_run).text);
    shape = longer(shape, shape_describe(&pairing->comparisons[i].new_run->shape).text);
  }
  fprintf(file, "%-*s  %-*s  %10s  %10s  %7s  %-16s  %8s  %-18s  %s\n", step, "step", shape,
          "shape", "old ms", "new ms", "new/old", "95 % interval", "p", "Cliff's delta", "verdict");
  for (size_t i = 0; i < pairing->count; i++) {
    const comparison *one = &pairing->comparisons[i];
    char interval[32];
    char p[16];
    fprintf(file, "%-*s  %-*s  %10.4f  %10.4f  %7.3f  %-16s  %8s  %+.3f %-11s  %s\n", step,
            name_row(one->new_run).text, shape, shape_describe(&one->new_run->shape).text,
            one->old_ms, one->new_ms, one->ratio.ratio,
            interval_text(one->ratio.interval, interval), p_text(one->p, p), one->delta,
            statistics_cliffs_delta_size(one->delta), verdict_name(one->verdict));
  }
}

static void print_lonely(FILE *file, const recording *old_run, const recording *new_run,
                         const pairing *pairing) {
  for (size_t i = 0; i < pairing->lonely_count; i++) {
    const lonely_row *lonely = &pairing->lonely[i];
    const recording *has = lonely->is_old ? old_run : new_run;
    const recording *has_not = lonely->is_old ? new_run : old_run;
    fprintf(file, "%stimed in %s only: %s, %s", i == 0 ? "\n" : "",
            error_printable(has->table.path).text, name_row(lonely->row).text,
            shape_describe(&lonely->row->shape).text);
    if (lonely->other && strcmp(lonely->other->check, "ok") != 0) {
      fprintf(file, " (%s in %s)", lonely->other->check, error_printable(has_not->table.path).text);
    }
    fputc('\n', file);
  }
}

void table_print(FILE *file, const recording *old_run, const recording *new_run,
                 const pairing *pairing, double threshold) {
  const comparison *first = &pairing->comparisons[0];
  const bool two_steps = strcmp(first->old_run->step, first->new_run->step) != 0;
  size_t counts[VERDICTS] = {0};
  for (size_t i = 0; i < pairing->count; i++) counts[pairing->comparisons[i].verdict]++;

  fprintf(file, "old: %s%s%s, commit %s\n", error_printable(old_run->table.path).text,
          two_steps ? ", " : "", two_steps ? first->old_run->step : "",
          recording_cell(old_run, first->old_run, "commit"));
  fprintf(file, "new: %s%s%s, commit %s\n", error_printable(new_run->table.path).text,
          two_steps ? ", " : "", two_steps ? first->new_run->step : "",
          recording_cell(new_run, first->new_run, "commit"));
  fprintf(file,
          "on %s; a difference is one of more than %g %% with p < %g (Mann-Whitney, adjusted for "
          "%zu comparisons)\n\n",
          new_run->device, 100 * threshold, JUDGE_ALPHA, pairing->count);
  print_comparisons(file, pairing);
  print_lonely(file, old_run, new_run, pairing);
  fputc('\n', file);
  for (int i = 0; i < VERDICTS; i++) {
    fprintf(file, "%s%zu %s", i ? ", " : "", counts[i], verdict_name((verdict)i));
  }
  fprintf(file, "; %zu timed on one side only\n", pairing->lonely_count);
}

// --- warnings

// What a state may differ by, as a part of the larger value. Clocks are those of an instant and waver;
// everything that is not a number, such as a version, must be the same.
typedef struct {
  const char *column;
  const char *name;
  double tolerance;
} state;

static const state states[] = {
    {"driver", "the driver", 0},
    {"cuda", "the CUDA version", 0},
    {"power_limit_w", "the power limit (W)", 0},
    {"memory_clock_mhz", "the memory clock (MHz)", 0},
    {"sm_clock_before_mhz", "the SM clock before the row (MHz)", 0.02},
    {"sm_clock_after_mhz", "the SM clock after the row (MHz)", 0.02},
};

static bool differs(const char *a, const char *b, double tolerance) {
  if (strcmp(a, b) == 0) return false;
  if (tolerance == 0) return true;
  const double a_value = strtod(a, NULL);
  const double b_value = strtod(b, NULL);
  return !(fabs(a_value - b_value) <= tolerance * fmax(a_value, b_value));
}

static const char *or_unknown(const char *text) { return *text ? text : "unknown"; }

void table_print_warnings(FILE *file, const recording *old_run, const recording *new_run,
                          const pairing *pairing, double threshold) {
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    size_t different = 0;
    const comparison *first = NULL;
    for (size_t k = 0; k < pairing->count; k++) {
      const comparison *one = &pairing->comparisons[k];
      if (!differs(recording_cell(old_run, one->old_run, states[i].column),
                   recording_cell(new_run, one->new_run, states[i].column), states[i].tolerance)) {
        continue;
      }
      if (different++ == 0) first = one;
    }
    if (different == 0) continue;
    fprintf(file,
            "warning: %s differs in %zu of %zu rows, first %s against %s: times may differ for "
            "that reason alone\n",
            states[i].name, different, pairing->count,
            or_unknown(recording_cell(old_run, first->old_run, states[i].column)),
            or_unknown(recording_cell(new_run, first->new_run, states[i].column)));
  }
  size_t unclear = 0;
  for (size_t i = 0; i < pairing->count; i++) {
    const comparison *one = &pairing->comparisons[i];
    const double apart = fmax(one->ratio.ratio, 1 / one->ratio.ratio);
    unclear += one->verdict == VERDICT_TOO_FEW && apart > 1 + threshold;
  }
  if (unclear > 0) {
    fprintf(file,
            "warning: %zu rows are apart by more than %g %%, but have too few samples to tell "
            "that from chance: record more\n",
            unclear, 100 * threshold);
  }
}

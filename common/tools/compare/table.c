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

static const char *interval_text(statistics_interval interval, char text[32]) {
  if (isnan(interval.low)) return "-";
  snprintf(text, 32, "%.3f to %.3f", interval.low, interval.high);
  return text;
}

static const char *limit_text(double limit, char text[16]) {
  snprintf(text, 16, "%.1f %%", 100 * limit);
  return text;
}

// Describes a shape, such as "1x32x1024x64 fp16 causal, rising, deviation 8".
static row_name name_problem(const measurement *row) {
  row_name name;
  char deviation[32] = "";
  if (row->score_deviation != 1)
    snprintf(deviation, sizeof deviation, ", deviation %g", row->score_deviation);
  snprintf(name.text, sizeof name.text, "%s%s%s", shape_describe(&row->shape).text,
           row->rising ? ", rising" : "", deviation);
  return name;
}

static void print_comparisons(FILE *file, const pairing *pairing) {
  int step = 4;
  int shape = 5;
  for (size_t i = 0; i < pairing->count; i++) {
    step = longer(step, name_row(pairing->comparisons[i].new_run).text);
    shape = longer(shape, name_problem(pairing->comparisons[i].new_run).text);
  }
  fprintf(file, "%-*s  %-*s  %10s  %10s  %7s  %-16s  %6s  %s\n", step, "step", shape, "shape",
          "old ms", "new ms", "new/old", "95 % interval", "limit", "verdict");
  for (size_t i = 0; i < pairing->count; i++) {
    const comparison *one = &pairing->comparisons[i];
    char interval[32];
    char limit[16];
    fprintf(file, "%-*s  %-*s  %10.4f  %10.4f  %7.3f  %-16s  %6s  %s\n", step,
            name_row(one->new_run).text, shape, name_problem(one->new_run).text, one->old_ms,
            one->new_ms, one->ratio.ratio, interval_text(one->ratio.interval, interval),
            limit_text(one->limit, limit), verdict_name(one->verdict));
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
            name_problem(lonely->row).text);
    if (lonely->other && strcmp(lonely->other->check, "ok") != 0) {
      fprintf(file, " (%s in %s)", lonely->other->check, error_printable(has_not->table.path).text);
    }
    fputc('\n', file);
  }
}

// Says what the cells of up to `end` milliseconds have in common, or all cells for 0.
static void print_band(FILE *file, const judge_band *band, double end) {
  if (end == 0) {
    fputs("all cells: ", file);
  } else if (end == HUGE_VAL) {
    fputs("longer cells: ", file);
  } else {
    fprintf(file, "cells of up to %g us: ", 1000 * end);
  }
  fprintf(file, "%zu that scatter by %.2f %%; the median of new/old is %.4f, which is %s\n",
          band->cells, 100 * band->noise, band->common,
          band->divided ? "taken for the machine's and divided out" : "a difference");
}

// Says how large the noise is, and what it means for the verdicts.
static void print_judgement(FILE *file, const pairing *pairing, const judgement *judgement) {
  char smallest[16];
  char largest[16];
  fprintf(file, "a difference is one whose interval does not hold 1 and that is larger than %s",
          limit_text(judgement->smallest, smallest));
  if (judgement->largest > judgement->smallest) {
    fprintf(file, " to %s", limit_text(judgement->largest, largest));
  }
  if (isnan(judgement->all.noise)) {
    fprintf(file, ": %zu comparisons do not tell how far two recordings lie apart\n\n",
            pairing->count);
    return;
  }
  fputc('\n', file);
  if (!isnan(judgement->floor_us)) {
    fprintf(file, "an empty kernel takes %+.2f us more in the new recording, which is subtracted\n",
            judgement->floor_us);
  }
  bool of_all = false; // some cells are judged by all
  for (int band = 0; band < JUDGE_BANDS; band++) {
    const judge_band *own = &judgement->bands[band];
    if (isnan(own->noise)) {
      of_all |= own->cells > 0;
    } else {
      print_band(file, own, judge_band_end(band));
    }
  }
  if (of_all) print_band(file, &judgement->all, 0);
  fputc('\n', file);
}

void table_print(FILE *file, const recording *old_run, const recording *new_run,
                 const pairing *pairing, const judgement *judgement) {
  const comparison *first = &pairing->comparisons[0];
  const bool two_steps = strcmp(first->old_run->step, first->new_run->step) != 0;
  size_t counts[VERDICTS] = {0};
  size_t together = 0;
  for (size_t i = 0; i < pairing->count; i++) {
    counts[pairing->comparisons[i].verdict]++;
    together += pairing->comparisons[i].paired;
  }

  fprintf(file, "old: %s%s%s, commit %s\n", error_printable(old_run->table.path).text,
          two_steps ? ", " : "", two_steps ? first->old_run->step : "", first->old_run->commit);
  fprintf(file, "new: %s%s%s, commit %s\n", error_printable(new_run->table.path).text,
          two_steps ? ", " : "", two_steps ? first->new_run->step : "", first->new_run->commit);
  fprintf(file, "on %s; ", new_run->device);
  print_judgement(file, pairing, judgement);
  print_comparisons(file, pairing);
  print_lonely(file, old_run, new_run, pairing);
  fputc('\n', file);
  for (int i = 0; i < VERDICTS; i++) {
    fprintf(file, "%s%zu %s", i ? ", " : "", counts[i], verdict_name((verdict)i));
  }
  const size_t called = counts[VERDICT_SLOWER] + counts[VERDICT_FASTER];
  fprintf(file, "; %.1f %% called different; ",
          100 * (double)called /
              (double)(together < pairing->count && !two_steps ? pairing->count - together
                                                               : pairing->count));
  if (!two_steps && together > 0) fprintf(file, "%zu are of one run on both sides; ", together);
  fprintf(file, "%zu timed on one side only\n", pairing->lonely_count);
}

// --- warnings

// The part of the larger value by which two states may differ. Clocks vary a little. A value that is not a
// number, such as a version, must be the same. Numbers are compared by their value.
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
    {"run_clock_mhz", "the SM clock at the end of the runs (MHz)", 0.02},
    {"throttled", "whether power or heat held the GPU back (1: yes)", 0},
};

static bool differs(const char *a, const char *b, double tolerance) {
  if (strcmp(a, b) == 0) return false;
  char *a_end = NULL;
  char *b_end = NULL;
  const double a_value = strtod(a, &a_end);
  const double b_value = strtod(b, &b_end);
  if (a_end == a || b_end == b || *a_end || *b_end) return true;
  return !(fabs(a_value - b_value) <= tolerance * fmax(a_value, b_value));
}

static const char *or_unknown(const char *text) { return *text ? text : "unknown"; }

// Warns of a band whose cells differ by more than two machines do.
static void warn_of_band(FILE *file, const judge_band *band, const char *which) {
  if (isnan(band->noise) || band->divided) return;
  fprintf(
      file,
      "warning: half of the %zu rows %sare %s by %.1f %% or more, which is too much for another "
      "GPU of the same kind: it counts as a difference\n",
      band->cells, which, band->common > 1 ? "slower" : "faster",
      100 * (fmax(band->common, 1 / band->common) - 1));
}

void table_print_warnings(FILE *file, const recording *old_run, const recording *new_run,
                          const pairing *pairing, const judgement *judgement) {
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
    unclear += one->verdict == VERDICT_TOO_FEW && apart > 1 + one->limit;
  }
  if (unclear > 0) {
    fprintf(file,
            "warning: %zu rows are apart by more than their limit, but have too few runs to tell "
            "that from chance: record more\n",
            unclear);
  }
  bool of_all = false; // some cells are judged by all
  for (int band = 0; band < JUDGE_BANDS; band++) {
    const judge_band *own = &judgement->bands[band];
    char which[32];
    snprintf(which, sizeof which, "%s %g us ", band == JUDGE_BANDS - 1 ? "above" : "of up to",
             1000 * judge_band_end(band - (band == JUDGE_BANDS - 1)));
    of_all |= isnan(own->noise) && own->cells > 0;
    warn_of_band(file, own, which);
  }
  if (of_all) warn_of_band(file, &judgement->all, "");
}

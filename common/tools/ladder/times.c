// Times the contenders in turn, and compares their times.
#define _GNU_SOURCE
#include "ladder/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Configurations are ranked; those without a time come last.
static int faster_first(const void *a, const void *b) {
  const statistics_summary *first = &((const ladder_row *)a)->result.figures.times;
  const statistics_summary *second = &((const ladder_row *)b)->result.figures.times;
  if (!first->samples != !second->samples) return first->samples ? -1 : 1;
  return (first->median > second->median) - (first->median < second->median);
}

const ladder_row *ladder_row_before(const ladder_session *s, const ladder_row *row,
                                    const ladder_row *last) {
  char parent[64];
  step_read_parent(row->step->name, parent);
  if (!*parent) return last;
  for (size_t i = 0; i < s->count; i++) {
    if (strcmp(s->rows[i].step->name, parent) == 0) return &s->rows[i];
  }
  return NULL;
}

// Compares each row with the first of the rows that were timed, which in a sweep is the fastest, and with that of the
// step before.
static void compare_rows(const ladder_session *s) {
  const ladder_row *first = NULL;
  const ladder_row *last = NULL;
  for (size_t i = 0; i < s->count; i++) {
    ladder_row *row = &s->rows[i];
    if (!row->bursts) continue;
    if (!first) first = row;
    row->result.first =
        result_compare(row->bursts, first->bursts,
                       ladder_is_sweep(s) ? first->result.configuration : first->result.step);
    const ladder_row *before = ladder_row_before(s, row, last);
    if (before && before->bursts && !ladder_is_sweep(s) && !ladder_has_variants(s)) {
      row->result.before = result_compare(row->bursts, before->bursts, before->result.step);
    }
    if (row->same && row->same->bursts && row->before_in_same->bursts) {
      row->result.same =
          result_compare(row->same->bursts, row->before_in_same->bursts, row->same_configuration);
    }
    last = row;
  }
}

static bool is_right(const ladder_row *row) {
  return row->result.verdict == CHECK_PASSED || row->result.verdict == CHECK_ILL_CONDITIONED;
}

bool ladder_time_steps(ladder_session *s, error_text *error) {
  const bool warm = s->options.given[OPTION_WARM_L2];
  const measure_plan plan =
      measure_plan_make(s->options.rounds, s->options.warm_up, warm ? 0 : s->device.l2_bytes);
  const size_t rows = s->count + s->beside;
  attention_step *timed = malloc(rows * sizeof *timed);
  size_t contenders = 0;
  for (size_t i = 0; timed && i < rows; i++) {
    if (is_right(&s->rows[i])) timed[contenders++] = *s->rows[i].step;
  }
  bool good = timed || fail(error, "not enough memory for the samples");
  good = good && measure_steps(&s->trial, timed, contenders, &plan, &s->measured, error);
  size_t next = 0;
  for (size_t i = 0; i < rows && good; i++) {
    ladder_row *row = &s->rows[i];
    if (!is_right(row)) continue;
    const size_t own = next++;
    const timing_contender *bursts = &s->measured.contenders[own];
    if (bursts->failure) {
      fprintf(stderr, "not timed: %s: %s\n", row_name(row).text, bursts->failure);
      continue;
    }
    if (!measured_steps_check(&s->measured, own, &row->result.check)) {
      row->result.verdict = check_verdict_of(false, &row->result.check);
      row_print_verdict(row);
      continue;
    }
    row->bursts = bursts;
    row->result.figures = timing_figure(bursts);
    row->result.floor = measured_steps_floor(&s->measured);
  }
  if (good && ladder_is_sweep(s)) qsort(s->rows, s->count, sizeof *s->rows, faster_first);
  if (good) compare_rows(s);
  free(timed);
  return good;
}

#include "compare/pairing.h"

#include <stdlib.h>
#include <string.h>

static bool same_shape(const attention_shape *a, const attention_shape *b) {
  return a->dtype == b->dtype && a->batch == b->batch && a->heads == b->heads &&
         a->kv_heads == b->kv_heads && a->seq_q == b->seq_q && a->seq_kv == b->seq_kv &&
         a->head_dim == b->head_dim && a->causal == b->causal;
}

static bool same_problem(const measurement *a, const measurement *b) {
  return same_shape(&a->shape, &b->shape) && a->score_deviation == b->score_deviation &&
         a->rising == b->rising;
}

// Tells whether the two were timed in turn, in one run.
static bool timed_together(const measurement *a, const measurement *b) {
  return strcmp(a->date, b->date) == 0 && strcmp(a->commit, b->commit) == 0;
}

// "05_wmma" is also called "05" and "step05".
static bool is_called(const char *step, const char *name) {
  if (strcmp(step, name) == 0) return true;
  if (strncmp(name, "step", 4) == 0) name += 4;
  const size_t digits = strspn(name, "0123456789");
  return digits > 0 && name[digits] == '\0' && strncmp(step, name, digits) == 0 &&
         step[digits] == '_';
}

// Writes the recording's rows of the step, or all rows for NULL, to `rows`, and returns how many
// there are.
static size_t select_rows(const recording *recording, const char *step, const measurement **rows) {
  size_t count = 0;
  for (size_t i = 0; i < recording->count; i++) {
    const measurement *row = &recording->measurements[i];
    if (!step || is_called(row->step, step)) rows[count++] = row;
  }
  return count;
}

static bool no_such_step(const recording *recording, const char *step, error_text *error) {
  char names[768] = "";
  size_t used = 0;
  for (size_t i = 0; i < recording->count && used < sizeof names; i++) {
    const char *name = recording->measurements[i].step;
    bool named = false;
    for (size_t j = 0; j < i && !named; j++) {
      named = strcmp(name, recording->measurements[j].step) == 0;
    }
    if (named) continue;
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
  }
  return fail(error, "%s has no step \"%s\": it has %s", recording->table.path, step, names);
}

// Two rows of one shape mean several configurations, and it is not known which of them is meant.
static bool one_row_a_shape(const recording *recording, const measurement *const *rows,
                            size_t count, error_text *error) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < i; j++) {
      if (!same_problem(rows[i], rows[j])) continue;
      return fail(error,
                  "%s has several configurations of %s (lines %zu and %zu): compare records "
                  "in which the step makes its own choice",
                  recording->table.path, rows[i]->step, recording->table.lines[rows[j]->row],
                  recording->table.lines[rows[i]->row]);
    }
  }
  return true;
}

static bool belong_together(const measurement *a, const measurement *b, bool by_shape) {
  return same_problem(a, b) && (by_shape || (strcmp(a->step, b->step) == 0 &&
                                             strcmp(a->configuration, b->configuration) == 0));
}

static const measurement *find_other(const measurement *row, const measurement *const *others,
                                     size_t count, bool by_shape) {
  for (size_t i = 0; i < count; i++) {
    if (belong_together(row, others[i], by_shape)) return others[i];
  }
  return NULL;
}

static bool is_timed(const measurement *row) { return row && row->rounds > 0; }

static void pair_rows(pairing *pairing, const measurement *const *old_rows, size_t old_count,
                      const measurement *const *new_rows, size_t new_count, bool by_shape) {
  for (size_t i = 0; i < old_count; i++) {
    const measurement *other = find_other(old_rows[i], new_rows, new_count, by_shape);
    if (is_timed(old_rows[i]) && is_timed(other)) {
      pairing->comparisons[pairing->count++] = (comparison){
          .old_run = old_rows[i], .new_run = other, .paired = timed_together(old_rows[i], other)};
    } else if (is_timed(old_rows[i])) {
      pairing->lonely[pairing->lonely_count++] = (lonely_row){old_rows[i], other, true};
    }
  }
  for (size_t i = 0; i < new_count; i++) {
    const measurement *other = find_other(new_rows[i], old_rows, old_count, by_shape);
    if (is_timed(new_rows[i]) && !is_timed(other)) {
      pairing->lonely[pairing->lonely_count++] = (lonely_row){new_rows[i], other, false};
    }
  }
}

bool pairing_create(const recording *old_run, const char *old_step, const recording *new_run,
                    const char *new_step, pairing *pairing, error_text *error) {
  const bool by_shape = old_step != NULL;
  const measurement **old_rows = calloc(old_run->count, sizeof *old_rows);
  const measurement **new_rows = calloc(new_run->count, sizeof *new_rows);
  *pairing = (struct pairing){
      .comparisons = calloc(old_run->count, sizeof *pairing->comparisons),
      .lonely = calloc(old_run->count + new_run->count, sizeof *pairing->lonely),
  };
  bool good = (old_rows && new_rows && pairing->comparisons && pairing->lonely) ||
              fail(error, "not enough memory to compare");
  if (good) {
    const size_t old_count = select_rows(old_run, old_step, old_rows);
    const size_t new_count = select_rows(new_run, new_step, new_rows);
    good = (old_count > 0 || no_such_step(old_run, old_step, error)) &&
           (new_count > 0 || no_such_step(new_run, new_step, error)) &&
           (!by_shape || (one_row_a_shape(old_run, old_rows, old_count, error) &&
                          one_row_a_shape(new_run, new_rows, new_count, error)));
    if (good) pair_rows(pairing, old_rows, old_count, new_rows, new_count, by_shape);
  }
  if (good && pairing->count == 0) {
    good = fail(error, "no row was timed in both %s and %s: they have no step and shape in common",
                old_run->table.path, new_run->table.path);
  }
  free(old_rows);
  free(new_rows);
  if (!good) pairing_free(pairing);
  return good;
}

void pairing_free(pairing *pairing) {
  free(pairing->comparisons);
  free(pairing->lonely);
  *pairing = (struct pairing){0};
}

#include "bench/table.h"

#include "shape/shape.h"
#include <stdio.h>
#include <string.h>

static int shape_width(const bench_session *s) { return s->options.filter.decode ? 43 : 28; }

void table_print_head(const bench_session *s) {
  printf("\n%s: %s by step\n\n%7s  %-*s", s->device.name,
         s->options.filter.decode ? "microseconds of a launch, of short ones in a replayed graph,"
                                  : "TFLOP/s",
         "cell", shape_width(s), "shape");
  for (size_t i = 0; i < s->count; i++) {
    const char *name = s->steps[i].name;
    printf(" %7.*s", (int)strcspn(name, "_"), name);
  }
  printf("  %-18s  %7s  %s\n", "rows checked", "seconds", "left");
  fflush(stdout);
}

static double table_value(const bench_session *s, const result_row *row) {
  const timing_figures *figures = &row->figures;
  if (!s->options.filter.decode) return result_tflops(&row->shape, &figures->times);
  return 1e3 * (figures->graph.runs > 0 ? figures->graph.median : figures->times.median);
}

static void print_row(const bench_session *s, const cell_row *row) {
  switch (row->result.verdict) {
  case CHECK_SKIPPED: printf(" %7s", "skipped"); return;
  case CHECK_FAILED: printf(" %7s", "FAILED"); return;
  case CHECK_PASSED:
  case CHECK_ILL_CONDITIONED: break;
  }
  if (!row->bursts) {
    printf(" %7s", "untimed");
    return;
  }
  const double value = table_value(s, &row->result);
  printf(" %7.*f", value < 10 ? 2 : value < 1e5 ? 1 : 0, value);
}

void table_print_cell(const bench_session *s, size_t number, const cell *cell,
                      const size_t *measured, double seconds) {
  const attention_shape *shape = &s->shapes[number];
  printf("%3zu/%-3zu  %-*s", number + 1, s->cells, shape_width(s), shape_describe(shape).text);
  for (size_t i = 0, next = 0; i < s->count; i++) {
    if (next < cell->count && measured[next] == i) {
      print_row(s, &cell->rows[next++]);
    } else {
      printf(" %7s", "kept");
    }
  }
  char checked[32];
  snprintf(checked, sizeof checked, "%zu of %d", cell->checked_rows, shape->seq_q);
  printf("  %-18s  %7.1f  about %.0f s\n", checked, seconds, session_time_left(s, number + 1));
  fflush(stdout);
  for (size_t i = 0; i < cell->count; i++) {
    const cell_row *row = &cell->rows[i];
    if (!row->note.text[0]) continue;
    fprintf(stderr, "%s: %s on %s: %s\n",
            row->result.verdict == CHECK_FAILED    ? "FAILED"
            : row->result.verdict == CHECK_SKIPPED ? "skipped"
                                                   : "not timed",
            row->result.step, shape_describe(shape).text, row->note.text);
  }
}

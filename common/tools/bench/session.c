#include "bench/session.h"

#include "bench/cell.h"

// A step that was skipped is tried again if it can be measured: another process may have held the memory.
static bool is_there(const bench_session *s, size_t step, const attention_shape *shape) {
  const result_row key = {.step = s->steps[step].name, .device = s->device.name, .shape = *shape};
  return results_has(&s->results, &key) || (results_skipped(&s->results, &key) &&
                                            !cell_is_possible(&s->device, &s->steps[step], shape));
}

size_t session_missing(const bench_session *s, const attention_shape *shape,
                       size_t missing[SESSION_STEPS]) {
  bool all_there = true;
  for (size_t i = 0; i < s->count; i++) {
    all_there = all_there && is_there(s, i, shape);
    missing[i] = i;
  }
  return all_there ? 0 : s->count;
}

double session_time_left(const bench_session *s, size_t first) {
  double seconds = 0;
  for (size_t i = first; i < s->cells; i++) {
    size_t missing[SESSION_STEPS];
    const size_t count = session_missing(s, &s->shapes[i], missing);
    if (count > 0) {
      seconds += estimate_cell(&s->estimate, &s->plan.timing, missing, count, &s->shapes[i]);
    }
  }
  return seconds;
}

size_t session_cells_left(const bench_session *s) {
  size_t missing[SESSION_STEPS], left = 0;
  for (size_t i = 0; i < s->cells; i++) left += session_missing(s, &s->shapes[i], missing) > 0;
  return left;
}

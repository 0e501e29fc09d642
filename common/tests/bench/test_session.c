// Which cells a bench that goes on has to measure, how long they may take, and the table that it prints meanwhile.
#define _GNU_SOURCE
#include "bench/session.h"
#include "bench/table.h"
#include "shape/shape.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 3, CELLS = 2 };

static const timing_burst burst = {.launches = 1, .milliseconds = {2}, .median = 2};
static const timing_contender timed = {.bursts = (timing_burst *)&burst, .rounds = 1};
static bench_session s;
static size_t missing[SESSION_STEPS];
static bool refused; // by step 03

static size_t no_workspace(const attention_shape *shape) { return shape ? 0 : 1; }
static const char *takes_all(const attention_shape *shape) { return shape ? NULL : "no shape"; }
static const char *may_refuse(const attention_shape *shape) {
  return refused && shape ? "it takes nothing" : NULL;
}

static result_row row_of(size_t step, size_t cell, check_verdict verdict) {
  return (result_row){.step = s.steps[step].name,
                      .device = s.device.name,
                      .shape = s.shapes[cell],
                      .verdict = verdict,
                      .figures = {.times = {1, 1, 2, NAN, NAN, 2, 2}}};
}

static void add(size_t step, size_t cell, check_verdict verdict) {
  error_text error;
  const result_row row = row_of(step, cell, verdict);
  cr_assert(results_add(&s.results, &row, verdict == CHECK_PASSED ? &timed : NULL, &error));
}

// Three steps and two cells, of which the second has a hundred times the work.
static void begin(void) {
  static const char *const names[STEPS] = {"01_naive", "02_tiled", "03_3dgrid"};
  s = (bench_session){.device = {.name = "Test GPU", .memory_bytes = (size_t)1 << 30},
                      .count = STEPS,
                      .cells = CELLS,
                      .plan = measure_plan_make(10, 10, 0)};
  s.plan.timing.seconds_most = 4;
  for (size_t i = 0; i < STEPS; i++)
    s.steps[i] = (attention_step){.name = names[i],
                                  .workspace_bytes = no_workspace,
                                  .unsupported = i == 2 ? may_refuse : takes_all};
  for (size_t i = 0; i < CELLS; i++) {
    const int seq = i == 0 ? 100 : 1000;
    s.shapes[i] = (attention_shape){ATTENTION_FP16, 1, 1, 1, seq, seq, 64, false, 0.125f};
  }
}
static void end(void) { results_free(&s.results); }

TestSuite(session, .init = begin, .fini = end);

// Its steps are compared by pairs of one round, so one that is missing makes all of them missing.
Test(session, a_cell_is_measured_whole_or_not_at_all) {
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), STEPS);
  add(0, 0, CHECK_PASSED);
  add(1, 0, CHECK_PASSED);
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), STEPS);
  for (size_t i = 0; i < STEPS; i++) cr_expect_eq(missing[i], i);
  cr_expect_eq(session_cells_left(&s), CELLS);
  add(2, 0, CHECK_FAILED); // it may have been corrected
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), STEPS);
  add(2, 0, CHECK_PASSED);
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), 0);
  cr_expect_eq(session_cells_left(&s), 1);
}

// A step that no run can measure is not waited for; one that could be measured was skipped for want of memory alone.
Test(session, what_was_skipped_is_tried_again_if_it_can_be_measured) {
  add(0, 0, CHECK_PASSED);
  add(1, 0, CHECK_PASSED);
  add(2, 0, CHECK_SKIPPED);
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), STEPS);
  refused = true;
  cr_expect_eq(session_missing(&s, &s.shapes[0], missing), 0);
}

// 1 ms for a launch of step 01 in the first cell: 10 launches and ten bursts of 15 are 0.16 s. 100 ms in the second: one
// launch and ten bursts of one are 1.1 s. Nothing is known of the other steps.
Test(session, seconds_of_the_cells_that_are_left) {
  estimate_learn(&s.estimate, 0, &s.shapes[0], 1);
  cr_expect_float_eq(session_time_left(&s, 0), 0.16 + 1.1, 1e-9);
  cr_expect_float_eq(session_time_left(&s, 1), 1.1, 1e-9);
  for (size_t i = 0; i < STEPS; i++) add(i, 0, CHECK_PASSED);
  cr_expect_float_eq(session_time_left(&s, 0), 1.1, 1e-9);
  cr_expect_eq(session_time_left(&s, CELLS), 0);
}

// Returns what the table prints of the second cell.
static const char *printed(const cell *cell, const size_t *measured) {
  static char text[2048];
  FILE *file = tmpfile();
  const int kept = dup(STDOUT_FILENO);
  cr_assert(file && kept >= 0 && fflush(stdout) == 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
  table_print_head(&s);
  table_print_cell(&s, 1, cell, measured, 12.34);
  fflush(stdout);
  cr_assert(dup2(kept, STDOUT_FILENO) >= 0 && close(kept) == 0);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

// The shape has 4 * 1000 * 1000 * 64 operations, which in 2 ms are 0.13 TFLOP/s. A wrong step has no speed, and one that
// was not measured now stands in its column.
Test(session, table_of_speeds) {
  cell_row rows[2] = {{row_of(0, 1, CHECK_PASSED), &timed, {""}},
                      {row_of(2, 1, CHECK_FAILED), NULL, {""}}};
  const cell cell = {.count = 2, .rows = rows, .checked_rows = 8};
  const char *text = printed(&cell, (const size_t[]){0, 2});
  cr_expect(strstr(text, "\nTest GPU: TFLOP/s by step\n"), "%s", text);
  cr_expect(strstr(text, "      01      02      03  rows checked"), "%s", text);
  cr_expect(strstr(text, "\n  2/2    1x1x1000x64 fp16                0.13    kept  FAILED  8 of "
                         "1000              12.3  about 0 s\n"),
            "%s", text);
  rows[0].bursts = NULL;
  rows[1].result.verdict = CHECK_SKIPPED;
  text = printed(&cell, (const size_t[]){0, 2});
  cr_expect(strstr(text, " untimed    kept skipped "), "%s", text);
}

// Of decode the table has microseconds of a launch, of one in a replayed graph where it was short enough for that.
Test(session, table_of_decode) {
  cell_row rows[2] = {{row_of(0, 1, CHECK_PASSED), &timed, {""}},
                      {row_of(1, 1, CHECK_PASSED), &timed, {""}}};
  const cell cell = {.count = 2, .rows = rows, .checked_rows = 1};
  s.options.filter.decode = true;
  rows[1].result.figures.times.median = 0.0123;
  rows[1].result.figures.graph = (statistics_summary){1, 1, 0.0095, NAN, NAN, 0.0095, 0.0095};
  const char *text = printed(&cell, (const size_t[]){0, 1});
  cr_expect(strstr(text, "Test GPU: microseconds of a launch, "), "%s", text);
  cr_expect(strstr(text, "  2000.0    9.50    kept  1 of 1000"), "%s", text);
}

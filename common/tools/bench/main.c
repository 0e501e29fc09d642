// Checks and times every step over the grid of shapes, or over those of decode. A run that was interrupted goes
// on where it stopped.
#define _GNU_SOURCE
#include "bench/session.h"
#include "bench/table.h"
#include "finish/finish.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// --- the work

// Adds the samples of the overhead that every time of the cell contains.
static bool add_floors(bench_session *s, const attention_shape *shape, const cell *cell,
                       error_text *error) {
  const measured_steps *measured = &cell->measured;
  for (size_t i = 0; measured->count > 0 && i < MEASURE_FLOORS; i++) {
    const timing_contender *floor = &measured->contenders[measured->count + i];
    const result_row row = {.step = floor->name,
                            .device = s->device.name,
                            .shape = *shape,
                            .conditions = cell->rows[0].result.conditions};
    if (!results_add_floor(&s->results, &row, floor, error)) return false;
  }
  return true;
}

static bool measure_cell(bench_session *s, size_t number, error_text *error) {
  const attention_shape *shape = &s->shapes[number];
  size_t missing[SESSION_STEPS];
  attention_step steps[SESSION_STEPS];
  const size_t count = session_missing(s, shape, missing);
  if (count == 0) return true;
  for (size_t i = 0; i < count; i++) steps[i] = s->steps[missing[i]];

  const double started = now();
  cell cell;
  bool good = cell_measure(&s->device, shape, steps, count, &s->plan, &cell, error);
  s->launch_failed = cell.launch_failed;
  double timing = 0;
  for (size_t i = 0; i < count && good; i++) {
    const cell_row *row = &cell.rows[i];
    good = results_add(&s->results, &row->result, row->bursts, error);
    s->failed += row->result.verdict == CHECK_FAILED;
    if (!row->bursts) continue;
    estimate_learn(&s->estimate, missing[i], shape, row->result.figures.times.median);
    timing += estimate_timing(&s->estimate, &s->plan.timing, missing[i], shape);
  }
  good = good && add_floors(s, shape, &cell, error) &&
         results_save(&s->results, &s->folder, s->name, error);
  if (good) {
    const double seconds = now() - started;
    estimate_learn_cell(&s->estimate, seconds, timing);
    table_print_cell(s, number, &cell, missing, seconds);
  }
  cell_free(&cell);
  return good;
}

static bool add_state(bench_session *s, const char *when, const char *more, error_text *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return fail(error, "not enough memory for the record");
  const record_state state = record_read_state(&s->device);
  record_write(file, &s->device, when, &state);
  fputs(more, file);
  const bool good = (fclose(file) == 0 || fail(error, "not enough memory for the record")) &&
                    results_comment(&s->results, text, error);
  free(text);
  return good;
}

static bool open_results(bench_session *s, error_text *error) {
  const record_origin origin = record_read_origin();
  const record_state state = record_read_state(&s->device);
  const results_origin same = {s->device.name, state.driver, origin.cuda, origin.commit};
  if (s->options.fresh) return true;
  if (!results_commit_is_certain(origin.commit)) {
    printf("nothing is kept from an earlier run: commit %s does not say what the code is\n",
           origin.commit);
    return true;
  }
  if (!results_open(&s->folder, s->name, &same, &s->results, error)) {
    char reason[sizeof error->text];
    snprintf(reason, sizeof reason, "%s", error->text);
    return fail(error, "%.900s: FRESH=1 begins anew, NAME=... writes another file", reason);
  }
  const error_text shown = error_printable(record_file(&s->folder, s->name).text);
  const size_t rows = results_rows(&s->results);
  if (rows > 0) printf("%zu rows are in %s already\n", rows, shown.text);
  if (s->results.dropped > 0) {
    printf("%zu rows of another commit or machine will leave %s\n", s->results.dropped, shown.text);
  }
  return true;
}

static bool measure_cells(bench_session *s, error_text *error) {
  static const char checked[] =
      "# check: of each head max(p, min(8, 8 * p)) query rows with p = 2^26 / (batch * heads * "
      "seq_kv), at least one, or all, against float64; every other element is finite\n";
  if (!add_state(s, "before", checked, error)) return false;
  table_print_head(s);
  for (size_t i = 0; i < s->cells; i++) {
    if (!measure_cell(s, i, error)) return false;
  }
  return add_state(s, "after", "", error);
}

static bool run(bench_session *s, error_text *error) {
  if (!open_results(s, error)) return false;
  // The comments say what the GPU was like before and after rows were measured.
  if (session_cells_left(s) == 0) {
    printf("nothing is left to measure: FRESH=1 measures all of it again\n");
  } else if (!measure_cells(s, error)) {
    return false;
  }
  if (!results_save(&s->results, &s->folder, s->name, error)) return false;
  printf("\nwritten: %s, %zu rows, and their samples beside it\n",
         error_printable(record_file(&s->folder, s->name).text).text, results_rows(&s->results));
  return true;
}

// --- the command line

static bool load_steps(bench_session *s, char **paths, size_t count, error_text *error) {
  for (size_t i = 0; i < count; i++) {
    attention_step step;
    if (!step_load(paths[i], &step, error)) return false;
    if (!bench_options_want(&s->options, step.name)) {
      step_unload(&step);
      continue;
    }
    if (s->count == SESSION_STEPS) return fail(error, "more than %d steps", SESSION_STEPS);
    s->steps[s->count++] = step;
  }
  return s->count > 0 || fail(error, "none of the steps is one that --only names");
}

// Loads the steps of `paths` and makes the folder for the results before the long work begins.
static bool prepare(bench_session *s, const char *data_folder, char **paths, size_t count,
                    error_text *error) {
  if (!device_open(&s->device, error)) return false;
  if (s->device.emulated) {
    return fail(error, "the bench measures times, which on the emulator mean nothing: make ladder "
                       "counts there, or run make bench on a machine with a GPU");
  }
  s->cells = grid_make(&s->options.filter, s->shapes);
  s->plan = measure_plan_make(s->options.rounds, timing_default_plan().warm_up, s->device.l2_bytes);
  s->plan.timing.seconds_most = s->options.seconds;
  return load_steps(s, paths, count, error) &&
         record_folder_make(data_folder, &s->device, &s->folder, error);
}

static int report_error(const error_text *error) {
  fprintf(stderr, "error: %s\n", error->text);
  return EXIT_BAD_INPUT;
}

static int bench(int argc, char **argv) {
  static bench_session s;
  error_text error;
  int end = 1; // of folder, name and steps; what follows "--" is a command line of its own
  while (end < argc && strcmp(argv[end], "--") != 0) end++;
  const bool asks_for_help = argc == 2 && strcmp(argv[1], "--help") == 0;
  if (end <= 3 && !asks_for_help) {
    fputs(bench_usage, stderr);
    return EXIT_BAD_INPUT;
  }
  const bool options_follow = end < argc && !asks_for_help;
  if (!bench_options_parse(options_follow ? argc - end : 1, options_follow ? argv + end : argv,
                           &s.options, &error)) {
    return report_error(&error);
  }
  if (s.options.help || asks_for_help) {
    fputs(bench_usage, stdout);
    return EXIT_OK;
  }
  s.name = argv[2];
  record_begin();
  const bool good = prepare(&s, argv[1], argv + 3, (size_t)end - 3, &error) && run(&s, &error);
  results_free(&s.results);
  // A launch that failed ends the bench where nothing can be launched any more, and is no bad input.
  if (!good) {
    report_error(&error);
    return s.launch_failed ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT;
  }
  return s.failed > 0 ? EXIT_CHECK_FAILED : EXIT_OK;
}

int main(int argc, char **argv) { return finish_run(bench, argc, argv); }

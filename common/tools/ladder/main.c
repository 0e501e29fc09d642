// Runs every step on the same tensors in one process, checks each, and on a GPU times them in turn.
#define _GNU_SOURCE
#include "finish/finish.h"
#include "ladder/problem.h"
#include "ladder/row.h"
#include "ladder/session.h"
#include "options/options.h"
#include "record/folder.h"
#include "record/record.h"
#include "reference/selection.h"
#include "shape/shape.h"
#include "tensors/tensors.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ladder DATA_FOLDER NAME STEP.so... [-- OPTIONS]\n"
    "       ladder --slug | --options\n"
    "\n"
    "STEP.so:all stands for all configurations of a step, ranked by time. STEP.so:variant=NAME is "
    "a\n"
    "changed copy of the first step, which is compared with that one alone.\n"
    "Runs the steps on the same tensors, checks them, on a GPU times them in turn, and prints a\n"
    "table. Writes DATA_FOLDER/<device>/NAME.csv, and on a GPU every sample to NAME-samples.csv. "
    "--slug\n"
    "prints the device's folder name, and --options the options of the problem that the ladder "
    "takes "
    "here.\n"
    "OPTIONS are those of a step's program that choose shape, type, inputs and timing; the shape "
    "is\n"
    "4x32x4096x64 on a GPU and 1x4x256x64 on the emulator unless they say otherwise. On a GPU that "
    "is\n"
    "too small for it, the sizes that are not given are smaller, and a line says so.\n";

static void say_smaller(const ladder_session *s, const ladder_problem *problem) {
  const attention_shape shape = problem->shape;
  printf("The %s has %d multiprocessors and %.1f GB: the ladder takes batch %d, heads %d, seq %d "
         "here, "
         "less than the published table's 4, 32 and 4096, so that step 01 needs about %.1f s and "
         "%.1f GB. Options such as ARGS=\"--batch 4\" choose another shape.\n",
         s->device.name, s->device.multiprocessors, (double)s->device.memory_bytes * 1e-9,
         shape.batch, shape.heads, shape.seq_q, problem->seconds, problem->bytes * 1e-9);
}

// Fills in the sizes that are 0. On the emulator the problem is small, because times do not count there.
static ladder_problem choose_problem(const ladder_session *s, const attention_shape *given) {
  if (!s->device.emulated) return ladder_choose(given, &s->device);
  ladder_problem problem = {.shape = *given};
  attention_shape *shape = &problem.shape;
  if (shape->batch == 0) shape->batch = 1;
  if (shape->heads == 0) shape->heads = 4;
  if (shape->seq_q == 0) shape->seq_q = 256;
  if (shape->seq_kv == 0) shape->seq_kv = shape->seq_q;
  return problem;
}

static bool read_options(ladder_session *s, int argc, char **argv, error_text *error) {
  static const option_id refused[] = {OPTION_Q,    OPTION_K,       OPTION_V,        OPTION_OUT,
                                      OPTION_LSE,  OPTION_O_ALONE, OPTION_NO_CHECK, OPTION_CSV,
                                      OPTION_HELP, OPTION_CONFIG,  OPTION_SPLITS};
  options *options = &s->options;
  if (!options_parse(argc, argv, options, error)) return false;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (options->given[refused[i]]) {
      return fail(error, "the ladder takes no %s: give it to one step's program, such as %s",
                  option_table[refused[i]].name, refused[i] == OPTION_SPLITS ? "step18" : "step04");
    }
  }
  const bool emulated = s->device.emulated;
  attention_shape *shape = &options->shape;
  const ladder_problem problem = choose_problem(s, shape);
  *shape = problem.shape;
  if (problem.smaller) say_smaller(s, &problem);
  if (options->given[OPTION_EMU_SEED]) device_set_schedule(options->emu_seed);
  return options_fit_device(options, emulated, error) && options_fit_one_gpu(options, error);
}

// Sweeps and variants are many runs, of programs whose suites are run elsewhere: on a GPU some rows of every head
// are checked. The ladder itself checks all rows.
static bool prepare(ladder_session *s, error_text *error) {
  enum { SEED = 1 }; // of the choice of rows
  const attention_shape shape = options_shape(&s->options, s->device.emulated);
  const tensor_files none = {0};
  const bool some = !s->device.emulated && (ladder_is_sweep(s) || ladder_has_variants(s));
  return trial_create(&s->trial, &shape, error) &&
         tensors_fill(&s->options, &none, &s->trial, error) && trial_upload(&s->trial, error) &&
         (some ? trial_reference_some(&s->trial, selection_quick_rows(&shape), SEED, error)
               : trial_reference(&s->trial, error));
}

static bool is_timed(const ladder_session *s) {
  return !s->device.emulated && !s->options.given[OPTION_NO_TIME];
}

// Steps are compared in one configuration where they are timed, and compared with the step before at all.
static bool has_pairs(const ladder_session *s) {
  return is_timed(s) && !ladder_is_sweep(s) && !ladder_has_variants(s);
}

// Runs the step and checks the result, with lse and without it. Returns false with `error` when the machine fails.
static bool check_step(ladder_session *s, ladder_row *row, error_text *error) {
  result_row *result = &row->result;
  device_counts_reset();
  const bool ran = trial_run(&s->trial, row->step, NULL, error);
  if (!ran && !s->trial.launch_failed) return false;
  row->counts = device_counts_read();
  result->workspace_bytes = s->trial.workspace.bytes;
  result->check = (check_result){.o_error = NAN, .o_bound = NAN, .lse_error = NAN};
  if (!ran) result->check.message = *error;
  const bool right = ran && trial_check(&s->trial, &result->check) &&
                     trial_check_o_alone(&s->trial, row->step, &result->check);
  result->verdict = check_verdict_of(right, &result->check);
  return true;
}

// Checks each step with lse and without it, as it is timed. Returns false only when the machine fails, not when a step is
// wrong, nor when its launch fails; steps behind one that has left the device unusable are shown, and not run.
static bool check_steps(ladder_session *s, error_text *error) {
  for (size_t i = 0; i < s->count + s->beside; i++) {
    ladder_row *row = &s->rows[i];
    result_row *result = &row->result;
    result->step = row->step->name;
    result->configuration = row->step->configuration;
    result->device = s->device.name;
    result->shape = s->trial.shape;
    result->inputs = inputs_name(s->options.inputs);
    if (row->step->configure) row->step->configure(row->step->configuration);
    row->unsupported = s->device_lost ? "a step above has left the device unusable"
                                      : row->step->unsupported(&s->trial.shape);
    if (row->unsupported) continue;
    if (!check_step(s, row, error)) return false;
    if (result->verdict != CHECK_PASSED) row_print_verdict(row);
    s->device_lost = result->verdict == CHECK_FAILED && !device_works();
  }
  return true;
}

// Says which steps were not made from the sources in steps/, to the reader and in the record.
static void write_sources(const ladder_session *s, FILE *record) {
  for (size_t i = 0; i < s->count; i++) {
    const attention_step *step = &s->steps[i];
    if (!step->source || (i > 0 && step[-1].source == step->source)) continue;
    if (s->rows[i].result.variant) continue; // whose name says it
    fprintf(stderr, "note: the source of step %s is %s\n", step->name,
            error_printable(step->source).text);
    fprintf(record, "# source of step %s: %s\n", step->name, step->source);
  }
}

// Checks and times the steps, and writes the results and the machine as a file's text.
static bool climb(ladder_session *s, FILE *record, error_text *error) {
  record_conditions conditions = {.before = record_read_state(&s->device)};
  record_write(record, &s->device, "before", &conditions.before);
  write_sources(s, record);
  if (!check_steps(s, error)) return false;
  if (is_timed(s) && !s->device_lost && !ladder_time_steps(s, error)) return false;
  conditions.after = record_read_state(&s->device);
  conditions.origin = record_read_origin();
  record_write(record, &s->device, "after", &conditions.after);
  for (size_t i = 0; i < s->count + s->beside; i++) s->rows[i].result.conditions = conditions;
  row_write_csv(record, s->rows, s->count);
  row_print_table(stdout, &s->device, &s->trial.shape, s->rows, s->count);
  return !s->device_lost ||
         fail(error, "nothing is recorded, because the launch of a step has left the device "
                     "unusable: leave out the step that FAILED, or correct it");
}

// Writes all launches from which the recorded times are computed, and those of the overhead that every time
// contains.
static bool write_samples(ladder_session *s, FILE *file, error_text *error) {
  (void)error;
  const record_conditions *conditions = &s->rows[0].result.conditions;
  const bool variants = ladder_has_variants(s);
  result_write_sample_names(file, variants ? RESULT_VARIANTS : 0);
  for (size_t i = 0; i < s->count + s->beside; i++) {
    const ladder_row *row = &s->rows[i];
    if (row->bursts) result_write_samples(file, &row->result, row->bursts);
  }
  for (size_t i = 0; i < MEASURE_FLOORS; i++) {
    const timing_contender *floor = &s->measured.contenders[s->measured.count + i];
    const result_row key = {.step = floor->name,
                            .variant = variants ? "" : NULL,
                            .device = s->device.name,
                            .shape = s->trial.shape,
                            .conditions = *conditions};
    result_write_samples(file, &key, floor);
  }
  return true;
}

// Saves the text that `write` writes. Returns false when `write` or the disk fails.
static bool save(ladder_session *s, const char *name,
                 bool (*write)(ladder_session *s, FILE *file, error_text *), error_text *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return fail(error, "not enough memory for the record");
  bool good = write(s, file, error);
  if (fclose(file) != 0 && good) good = fail(error, "not enough memory for the record");
  good = good && record_save(&s->folder, name, text, length, error);
  free(text);
  return good;
}

static bool run(ladder_session *s, const char *name, error_text *error) {
  char samples_name[1024];
  snprintf(samples_name, sizeof samples_name, "%.1000s-samples", name);
  if (!save(s, name, climb, error)) return false;
  if (s->measured.count > 0) return save(s, samples_name, write_samples, error);
  // The samples of an earlier run would be taken for those of this record.
  const record_path stale = record_file(&s->folder, samples_name);
  return remove(stale.text) == 0 || errno == ENOENT ||
         fail(error, "cannot remove %s: %s", stale.text, strerror(errno));
}

static bool all_right(const ladder_session *s) {
  for (size_t i = 0; i < s->count + s->beside; i++) {
    if (s->rows[i].result.verdict == CHECK_FAILED) return false;
  }
  return true;
}

// `make ncu` profiles the steps on the ladder's problem.
static int print_options(ladder_session *s, error_text *error) {
  if (!device_open(&s->device, error)) {
    fprintf(stderr, "error: %s\n", error->text);
    return EXIT_BAD_INPUT;
  }
  const attention_shape shape = choose_problem(s, &(attention_shape){.head_dim = 64}).shape;
  const int printed = printf("--batch %d --heads %d --seq %d --dim %d\n", shape.batch, shape.heads,
                             shape.seq_q, shape.head_dim);
  return printed < 0 ? EXIT_BAD_INPUT : EXIT_OK;
}

static int compare_steps(int argc, char **argv) {
  static ladder_session s;
  error_text error;
  if (argc == 2 && strcmp(argv[1], "--options") == 0) return print_options(&s, &error);
  if (argc == 2 && strcmp(argv[1], "--slug") == 0) {
    if (device_open(&s.device, &error)) return puts(s.device.slug) < 0 ? EXIT_BAD_INPUT : EXIT_OK;
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  int end = 3; // of the steps; what follows "--" is a command line of its own
  while (end < argc && strcmp(argv[end], "--") != 0) end++;
  if (end <= 3) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  record_begin();
  const bool options_follow = end < argc; // "--" stands where their program name would
  const bool good =
      device_open(&s.device, &error) && ladder_load_steps(&s, argv + 3, (size_t)end - 3, &error) &&
      read_options(&s, options_follow ? argc - end : 1, options_follow ? argv + end : argv,
                   &error) &&
      record_folder_make(argv[1], &s.device, &s.folder, &error) && prepare(&s, &error) &&
      (!has_pairs(&s) || ladder_add_pairs(&s, &error)) && run(&s, argv[2], &error);
  // A launch that fails is a failed check, whether it did so when it was checked or when it was timed.
  const bool launch_failed = s.device_lost || s.measured.launch_failed;
  const int status = !good && !launch_failed ? EXIT_BAD_INPUT
                     : good && all_right(&s) ? EXIT_OK
                                             : EXIT_CHECK_FAILED;
  if (!good) fprintf(stderr, "error: %s\n", error.text);
  measured_steps_free(&s.measured);
  trial_free(&s.trial);
  free(s.steps);
  free(s.rows);
  return status;
}

int main(int argc, char **argv) { return finish_run(compare_steps, argc, argv); }

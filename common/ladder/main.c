// Runs every step on the same tensors in one process, checks each, and on a GPU times them in turn.
#define _GNU_SOURCE
#include "driver/measure.h"
#include "driver/options.h"
#include "driver/tensors.h"
#include "ladder/row.h"
#include "record/record.h"
#include "shape/shape.h"
#include "statistics/statistics.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: ladder DATA_FOLDER NAME STEP.so... [-- OPTIONS]\n"
    "       ladder --slug\n"
    "\n"
    "Runs the steps on the same tensors, checks them, on a GPU times them in turn, and prints a\n"
    "table. Writes DATA_FOLDER/<device>/NAME.csv. --slug prints the device's folder name.\n"
    "OPTIONS are those of a step's program that choose shape, type, inputs and samples; the shape "
    "is\n"
    "4x32x4096x64 on a GPU and 1x4x256x64 on the emulator unless they say otherwise.\n";

// A step is timed this often unless --samples says otherwise: its first rung takes most of a second.
enum { DEFAULT_SAMPLES = 30 };

static bool read_options(int argc, char **argv, bool emulated, options *options,
                         error_text *error) {
  static const option_id refused[] = {OPTION_Q,   OPTION_K,        OPTION_V,   OPTION_OUT,
                                      OPTION_LSE, OPTION_NO_CHECK, OPTION_CSV, OPTION_HELP};
  if (!options_parse(argc, argv, options, error)) return false;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (options->given[refused[i]]) {
      return fail(error, "the ladder takes no %s: give it to one step's program, such as step04",
                  option_table[refused[i]].name);
    }
  }
  attention_shape *shape = &options->shape;
  if (shape->batch == 0) shape->batch = emulated ? 1 : 4;
  if (shape->heads == 0) shape->heads = emulated ? 4 : 32;
  if (shape->seq_q == 0) shape->seq_q = emulated ? 256 : 4096;
  if (shape->seq_kv == 0) shape->seq_kv = shape->seq_q;
  if (!options->given[OPTION_SAMPLES]) options->samples = DEFAULT_SAMPLES;
  return true;
}

// Checks each step once. False only when the machine fails, not when a step is wrong.
static bool check_steps(trial *trial, const attention_step *steps, ladder_row *rows, size_t count,
                        error_text *error) {
  for (size_t i = 0; i < count; i++) {
    rows[i] = (ladder_row){.step = &steps[i], .unsupported = steps[i].unsupported(&trial->shape)};
    if (rows[i].unsupported) continue;
    device_counts_reset();
    if (!trial_run(trial, &steps[i], NULL, error)) return false;
    rows[i].counts = device_counts_read();
    rows[i].workspace_bytes = trial->workspace.bytes;
    rows[i].right = trial_check(trial, &rows[i].check);
    if (!rows[i].right) {
      fprintf(stderr, "FAILED: %s: %s\n", steps[i].name, rows[i].check.message.text);
    }
  }
  return true;
}

// Times the steps that are right: how fast a wrong one is does not matter.
static bool time_steps(trial *trial, const options *options, size_t l2_bytes, ladder_row *rows,
                       size_t count, error_text *error) {
  attention_step *timed = malloc(count * sizeof *timed);
  double *milliseconds = malloc(count * options->samples * sizeof *milliseconds);
  size_t contenders = 0;
  for (size_t i = 0; timed && i < count; i++) {
    if (rows[i].right) timed[contenders++] = *rows[i].step;
  }
  const measure_plan plan = {options->samples, options->warm_up,
                             options->given[OPTION_WARM_L2] ? 0 : l2_bytes};
  bool good = (timed && milliseconds) || fail(error, "not enough memory for the samples");
  good = good && measure_steps(trial, timed, contenders, &plan, milliseconds, error);
  const double *samples = milliseconds;
  for (size_t i = 0; i < count && good; i++) {
    ladder_row *row = &rows[i];
    if (!row->right) continue;
    const statistics_interval interval = statistics_bootstrap_median(samples, plan.samples, 1);
    row->samples = plan.samples;
    row->median_ms = statistics_median(samples, plan.samples);
    row->low_ms = interval.low;
    row->high_ms = interval.high;
    row->tflops = shape_operations(&trial->shape) / row->median_ms * 1e-9;
    samples += plan.samples;
  }
  free(timed);
  free(milliseconds);
  return good;
}

static bool make_folder(const char *path, error_text *error) {
  return mkdir(path, 0777) == 0 || errno == EEXIST ||
         fail(error, "cannot make the folder %s: %s", path, strerror(errno));
}

int main(int argc, char **argv) {
  error_text error;
  device_info device;
  options options;
  trial trial = {0};
  int steps_end = 3;
  while (steps_end < argc && strcmp(argv[steps_end], "--") != 0) steps_end++;
  const bool slug_only = argc == 2 && strcmp(argv[1], "--slug") == 0;
  if (!slug_only && (argc < 4 || steps_end == 3)) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  bool good = device_open(&device, &error);
  if (good && slug_only) {
    puts(device.slug);
    return EXIT_OK;
  }

  const size_t count = (size_t)steps_end - 3;
  attention_step *steps = calloc(count, sizeof *steps);
  ladder_row *rows = calloc(count, sizeof *rows);
  good = good && ((steps && rows) || fail(&error, "not enough memory"));
  for (size_t i = 0; i < count && good; i++) good = step_load(argv[3 + i], &steps[i], &error);

  // What follows "--" is a command line of its own, "--" standing where its program name would.
  char *no_options[] = {argv[0], NULL};
  const bool any = steps_end < argc;
  tensor_files files;
  good = good &&
         read_options(any ? argc - steps_end : 1, any ? argv + steps_end : no_options,
                      device.emulated, &options, &error) &&
         options_fit_device(&options, device.emulated, &error);
  if (good && options.given[OPTION_EMU_SEED]) device_set_schedule(options.emu_seed);
  attention_shape shape = {0};
  good = good && tensors_open(&options, device.emulated, &files, &shape, &error) &&
         trial_create(&trial, &shape, &error) && tensors_fill(&options, &files, &trial, &error) &&
         trial_upload(&trial, &error) && trial_reference(&trial, &error) &&
         check_steps(&trial, steps, rows, count, &error);

  // The file is written under another name first, so that it appears whole or not at all.
  char folder[4096], path[8192], partial[8200];
  snprintf(folder, sizeof folder, "%s/%s", argv[1], device.slug);
  snprintf(path, sizeof path, "%s/%s.csv", folder, argv[2]);
  snprintf(partial, sizeof partial, "%s.tmp", path);
  FILE *csv = NULL;
  good = good && make_folder(folder, &error);
  if (good && !(csv = fopen(partial, "w"))) {
    good = fail(&error, "cannot write %s: %s", partial, strerror(errno));
  }
  if (good) record_write(csv, &device, "before");
  if (!device.emulated && !options.given[OPTION_NO_TIME]) {
    good = good && time_steps(&trial, &options, device.l2_bytes, rows, count, &error);
  }
  if (good) {
    record_write(csv, &device, "after");
    row_write_csv(csv, &device, &shape, rows, count);
    row_print_table(stdout, &device, &shape, rows, count);
  }
  if (csv) {
    const bool written = ferror(csv) == 0;
    if ((fclose(csv) != 0 || !written) && good) good = fail(&error, "cannot write %s", partial);
    if (good && rename(partial, path) != 0) {
      good = fail(&error, "cannot write %s: %s", path, strerror(errno));
    }
    if (!good) unlink(partial);
  }
  if (good) printf("written: %s\n", path);

  bool all_right = true;
  for (size_t i = 0; rows && i < count; i++) {
    if (!rows[i].unsupported && !rows[i].right) all_right = false;
  }
  trial_free(&trial);
  free(steps);
  free(rows);
  if (!good) fprintf(stderr, "error: %s\n", error.text);
  return !good ? EXIT_BAD_INPUT : all_right ? EXIT_OK : EXIT_CHECK_FAILED;
}

// Runs a step once on the counting emulator, and prints its requests to memory and its work for the
// tensor cores.
#define _GNU_SOURCE
#include "count/listing.h"
#include "csv/csv.h"
#include "device/device.h"
#include "file/file.h"
#include "finish/finish.h"
#include "group/group.h"
#include "options/options.h"
#include "shape/shape.h"
#include "tensors/tensors.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: count FOLDER STEP.so [-- OPTIONS]\n"
    "\n"
    "Runs the step once on the emulator, checks it, and counts. Writes FOLDER/stepNN.txt, its "
    "source\n"
    "with the counts of each line, FOLDER/stepNN.csv, the sums under their names, and\n"
    "FOLDER/stepNN-lines.csv, the counts of each line under the same names; prints the sums and "
    "the\n"
    "busiest lines. OPTIONS are those of a step's program that choose shape, type,\n"
    "inputs and configuration; the shape is 1x1x256x64 unless they say otherwise. A step for "
    "several GPUs\n"
    "runs on two, or on --gpus of them; its counts are the sums of all, and the bytes from each "
    "device to\n"
    "each other one are printed.\n";

enum { BUSIEST = 10 };

static const char note[] =
    "Counts are of the source as g++ compiled it; nvcc may join loads, move them "
    "out of loops, or do\nwithout a branch. `make calibrate` on a GPU shows by "
    "how much.\n";

typedef struct {
  device_info device;
  attention_step step;
  options options;
  trial trial;
  listing listing;
  check_result check;
  gpu_group group; // of a step for several GPUs
} session;

static bool read_options(session *s, int argc, char **argv, error_text *error) {
  static const option_id refused[] = {OPTION_Q,       OPTION_K,       OPTION_V,       OPTION_OUT,
                                      OPTION_LSE,     OPTION_CSV,     OPTION_HELP,    OPTION_ROUNDS,
                                      OPTION_WARM_UP, OPTION_WARM_L2, OPTION_NO_TIME, OPTION_MPI};
  options *options = &s->options;
  if (!options_parse(argc, argv, options, error)) return false;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (options->given[refused[i]]) {
      return fail(error, "count takes no %s: give it to the step's program, with make run",
                  option_table[refused[i]].name);
    }
  }
  attention_shape *shape = &options->shape;
  if (shape->batch == 0) shape->batch = 1;
  if (shape->heads == 0) shape->heads = shape->kv_heads > 0 ? shape->kv_heads : 1;
  if (shape->seq_q == 0) shape->seq_q = 256;
  if (shape->seq_kv == 0) shape->seq_kv = 256;
  if (options->given[OPTION_EMU_SEED]) device_set_schedule(options->emu_seed);
  const bool given = options->given[OPTION_GPUS];
  if (s->step.forward_group) group_imitate(given ? options->gpus : 2, given);
  return s->step.forward_group || !options->given[OPTION_GPUS] ||
         fail(error, "%s works on one GPU: --gpus is for the steps from 21 on", s->step.name);
}

static bool prepare_group(session *s, error_text *error) {
  int gpus = 0;
  return device_ok(cudaGetDeviceCount(&gpus), "counting the GPUs", error) &&
         group_fits(&s->trial.shape, s->options.given[OPTION_GPUS] ? s->options.gpus : gpus, gpus,
                    error) &&
         group_supported(&s->step, &s->trial.shape, gpus, error) &&
         group_open(&s->group, gpus, error) && group_deal(&s->group, &s->step, &s->trial, error);
}

static bool prepare(session *s, error_text *error) {
  const attention_shape shape = options_shape(&s->options, true);
  const tensor_files none = {0};
  if (!trial_create(&s->trial, &shape, error)) return false;
  s->trial.o_alone = s->options.given[OPTION_O_ALONE];
  return step_configure(&s->step, s->options.config, error) &&
         trial_supported(&s->trial, &s->step, error) &&
         tensors_fill(&s->options, &none, &s->trial, error) &&
         (s->step.forward_group ? prepare_group(s, error) : trial_upload(&s->trial, error));
}

// Returns false only when the machine fails, not when the step is wrong.
static bool run(session *s, bool *right, error_text *error) {
  const bool announce = isatty(STDERR_FILENO);
  if (announce) fprintf(stderr, "counting %s ...", s->step.name);
  emulator_count_reset();
  bool good = s->step.forward_group ? group_run(&s->group, &s->step, 1, &s->trial, error)
                                    : trial_run(&s->trial, &s->step, NULL, error);
  good = good && listing_take(&s->listing, error);
  *right = true;
  if (good && !s->options.given[OPTION_NO_CHECK]) {
    good = trial_reference(&s->trial, error);
    *right = good && (s->step.forward_group ? group_check(&s->group, &s->trial, &s->check)
                                            : trial_check(&s->trial, &s->check));
  }
  if (announce) fputs("\r\033[K", stderr);
  return good;
}

// ---- Files --------------------------------------------------------------------------------------

// The names of the columns; `place` names those that say where the counts are from.
static void print_names(FILE *out, const char *place) {
  fprintf(out,
          "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,%s",
          place);
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    fprintf(out, ",%s", column_names[column].name);
  }
  fputc('\n', out);
}

static void print_problem(FILE *out, const session *s) {
  const attention_shape *shape = &s->trial.shape;
  fprintf(out, "%s,%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,", s->step.name,
          s->options.config ? s->options.config : "", s->device.name,
          shape_dtype_name(shape->dtype), shape->batch, shape->heads, shape->kv_heads, shape->seq_q,
          shape->seq_kv, shape->head_dim, shape->causal);
}

static void print_values(FILE *out, const count_values *counts) {
  for (int column = 0; column < COUNT_COLUMNS; column++) {
    fprintf(out, ",%" PRIu64, counts->value[column]);
  }
  fputc('\n', out);
}

static void print_csv(FILE *out, const session *s) {
  print_names(out, "source");
  print_problem(out, s);
  fputs("emulator", out);
  print_values(out, &s->listing.total);
}

static void print_lines_csv(FILE *out, const session *s) {
  print_names(out, "file,line");
  for (size_t i = 0; i < s->listing.count; i++) {
    const emulator_line_counts *line = &s->listing.lines[i];
    print_problem(out, s);
    csv_write_text(out, line->file);
    fprintf(out, ",%d", line->line);
    print_values(out, &line->counts);
  }
}

static bool print_listing(FILE *out, const session *s, error_text *error) {
  char heading[1024];
  snprintf(heading, sizeof heading,
           "%s, %s\n\n%s\n"
           "Columns \"x ...\" are for each request of the column before, the others are sums.\n",
           s->step.name, shape_describe(&s->trial.shape).text, note);
  return listing_print(out, &s->listing, heading, error);
}

enum { LISTING, SUMS, LINES };
static const char *const ending[] = {".txt", ".csv", "-lines.csv"};

// Writes FOLDER/stepNN and the ending.
static bool save(const session *s, const char *folder, int kind, error_text *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/step%.*s%s", folder, (int)strcspn(s->step.name, "_"),
           s->step.name, ending[kind]);
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out) return fail(error, "not enough memory for %s", path);
  bool good = true;
  if (kind == SUMS) {
    print_csv(out, s);
  } else if (kind == LINES) {
    print_lines_csv(out, s);
  } else {
    good = print_listing(out, s, error);
  }
  if (fclose(out) != 0 && good) good = fail(error, "not enough memory for %s", path);
  good = good && file_write(path, text, length, error);
  free(text);
  if (good && kind == LISTING) printf("written: %s\n", error_printable(path).text);
  return good;
}

static bool report(const session *s, const char *folder, error_text *error) {
  printf("%s, %s\n\n", s->step.name, shape_describe(&s->trial.shape).text);
  listing_print_total(stdout, &s->listing);
  putchar('\n');
  listing_print_busiest(stdout, &s->listing, BUSIEST);
  putchar('\n');
  fputs(note, stdout);
  return save(s, folder, LISTING, error) && save(s, folder, SUMS, error) &&
         save(s, folder, LINES, error);
}

static int count(int argc, char **argv) {
  static session s;
  error_text error;
  const bool options_follow = argc > 3 && strcmp(argv[3], "--") == 0;
  if (argc < 3 || (argc > 3 && !options_follow)) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  bool right = true;
  const bool good =
      step_load_either(argv[2], &s.step, &error) &&
      read_options(&s, options_follow ? argc - 3 : 1, options_follow ? argv + 3 : argv, &error) &&
      device_open(&s.device, &error) && prepare(&s, &error) && run(&s, &right, &error) &&
      report(&s, argv[1], &error);
  if (!good) {
    fprintf(stderr, "error: %s\n", error.text);
  } else if (!right) {
    fprintf(stderr, "FAILED: %s: %s\n", s.step.name, s.check.message.text);
  }
  const bool launch_failed =
      s.trial.launch_failed || s.group.failed; // a failed check, not bad input
  listing_free(&s.listing);
  group_close(&s.group);
  trial_free(&s.trial);
  if (!good) return launch_failed ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT;
  return right ? EXIT_OK : EXIT_CHECK_FAILED;
}

int main(int argc, char **argv) { return finish_run(count, argc, argv); }

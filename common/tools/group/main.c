// Runs one step for several GPUs on one problem, checks it, times it, and prints a report.
#define _GNU_SOURCE
#include "device/device.h"
#include "driver/outcome.h"
#include "driver/outputs.h"
#include "finish/finish.h"
#include "group/group.h"
#include "options/help.h"
#include "options/options.h"
#include "shape/shape.h"
#include "tensors/tensors.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t link_bytes[GROUP_MOST_RANKS][GROUP_MOST_RANKS]; // of one run, from one GPU to another
  attention_step step;
  options options;
  device_info device;
  tensor_files files;
  trial trial;
  gpu_group group;
  report report;
  process_place place; // with --mpi; else this process has all ranks
  bool processes;
  int status; // where a sentence says what went wrong
} session;

// The inputs of all processes must be the same, because each deals out its own rows from them. So must what they do with
// them: a process that has no O to check, or more rounds to time, would wait for the others for ever.
static bool open_group(session *s, int ranks, error_text *error) {
  if (!s->processes) return group_open(&s->group, ranks, error);
  attention_shape shape;
  memset(&shape, 0, sizeof shape); // the padding, too
  memcpy(&shape, &s->trial.shape, sizeof shape);
  return processes_agree(&shape, sizeof shape, "the shape", error) &&
         processes_agree(&s->options.seed, sizeof s->options.seed, "the seed", error) &&
         processes_agree(&s->options.inputs, sizeof s->options.inputs, "the kind of inputs",
                         error) &&
         processes_agree(s->options.given, sizeof s->options.given, "the list of options", error) &&
         processes_agree(&s->options.rounds, sizeof s->options.rounds, "the number of rounds",
                         error) &&
         group_open_process(&s->group, &s->place, error);
}

// Sets the lengths that were not given. A rank's rows are pieces of a multiple of 128, two of them with the zigzag. So
// with the lengths that are usual for one GPU some ranks would have no rows.
static void default_lengths(attention_shape *shape) {
  enum { ROWS = 1024 }; // two pieces for each of four ranks
  if (shape->seq_q == 0) shape->seq_q = ROWS;
  if (shape->seq_kv == 0) shape->seq_kv = ROWS;
}

// Finds all errors that can be known before the work begins.
static bool prepare(session *s, error_text *error) {
  attention_shape shape;
  int gpus = 0;
  // Two where no number is given.
  group_imitate(s->options.given[OPTION_GPUS] ? s->options.gpus : 2, false);
  if (!device_open(&s->device, error) ||
      !options_fit_device(&s->options, s->device.emulated, error) ||
      !device_ok(cudaGetDeviceCount(&gpus), "counting the GPUs", error)) {
    return false;
  }
  if (s->options.given[OPTION_EMU_SEED]) device_set_schedule(s->options.emu_seed);
  default_lengths(&s->options.shape);
  if (!tensors_open(&s->options, s->device.emulated, &s->files, &shape, error) ||
      !step_configure(&s->step, s->options.config, error) ||
      !trial_create(&s->trial, &shape, error)) {
    return false;
  }
  int ranks = s->options.gpus;
  if (!s->options
           .given[OPTION_GPUS]) { // all, but not more than there are rows, or than the step can use
    ranks = gpus < shape.seq_q ? gpus : shape.seq_q;
    ranks = ranks < shape.seq_kv ? ranks : shape.seq_kv;
    while (ranks > 1 && !group_supported(&s->step, &shape, ranks, error)) ranks--;
  }
  s->trial.o_alone = s->options.given[OPTION_O_ALONE];
  s->trial.bare = s->options.given[OPTION_NO_CHECK];
  if (s->processes) ranks = s->place.ranks;
  return trial_supported(&s->trial, &s->step, error) &&
         group_fits(&shape, ranks, s->processes ? ranks : gpus, error) &&
         group_supported(&s->step, &shape, ranks, error) && outputs_writable(&s->options, error) &&
         tensors_fill(&s->options, &s->files, &s->trial, error) && open_group(s, ranks, error) &&
         group_deal(&s->group, &s->step, &s->trial, error);
}

// A rank that fails is a failed check, not bad input.
static bool run(session *s, error_text *error) {
  device_counts_reset();
  const bool good = group_run(&s->group, &s->step, 1, &s->trial, error);
  s->report.counts = device_counts_read();
  for (int from = 0; from < s->group.ranks; from++)
    for (int to = 0; to < s->group.ranks; to++)
      s->link_bytes[from][to] = device_link_bytes(from, to);
  s->report.workspace_bytes = s->step.group_workspace_bytes(&s->trial.shape, s->group.ranks);
  if (!good) s->status = EXIT_CHECK_FAILED;
  return good;
}

static bool is_timed(const session *s) {
  return !s->device.emulated && !s->options.given[OPTION_NO_TIME];
}

// Keeps the verdict, which is that of the first process: it has the reference. A rank that failed meanwhile has no
// result to judge, and the other processes wait for it, so the program ends.
static bool judge(session *s, bool right, error_text *error) {
  if (s->group.failed) {
    s->status = EXIT_CHECK_FAILED;
    *error = s->report.check.message;
    return false;
  }
  s->report.verdict = check_verdict_of(right, &s->report.check);
  if (s->processes) processes_share(&s->report.verdict, sizeof s->report.verdict);
  return true;
}

static bool check(session *s, error_text *error) {
  if (s->options.given[OPTION_NO_CHECK]) return true;
  if (s->place.rank == 0 && !trial_reference(&s->trial, error)) return false;
  check_result *found = &s->report.check;
  const bool right = group_check(&s->group, &s->trial, found) &&
                     (!is_timed(s) || group_check_o_alone(&s->group, &s->step, &s->trial, found));
  return judge(s, right, error);
}

// The times are of launches for O alone, as those of other steps are.
static bool measure(session *s, error_text *error) {
  if (!is_timed(s)) return true;
  s->report.floor = (timing_floor){.nothing = NAN, .empty_kernel = NAN}; // not measured
  if (!group_measure(&s->group, &s->step, s->options.rounds, &s->report.figures, error)) {
    s->status = EXIT_CHECK_FAILED;
    return false;
  }
  if (s->options.given[OPTION_NO_CHECK] ||
      group_check_timed(&s->group, &s->step, &s->trial, &s->report.check))
    return true;
  s->report.figures = (timing_figures){0};
  return judge(s, false, error);
}

static void print_links(const session *s) {
  for (int from = 0; from < s->group.ranks && s->group.ranks > 1; from++) {
    printf("links      from GPU %d:", from);
    for (int to = 0, listed = 0; to < s->group.ranks; to++)
      if (s->link_bytes[from][to] > 0)
        printf("%s %" PRIu64 " bytes to %d", listed++ ? "," : "", s->link_bytes[from][to], to);
    putchar('\n');
  }
}

static int run_session(session *s) {
  error_text error;
  s->status = EXIT_BAD_INPUT;
  bool good = prepare(s, &error) && run(s, &error) && check(s, &error);
  if (good && s->report.verdict != CHECK_FAILED) good = measure(s, &error);
  const bool wrong = s->report.verdict == CHECK_FAILED;
  if (good && s->place.rank > 0) return wrong ? EXIT_CHECK_FAILED : EXIT_OK;
  if (good && !wrong) good = outputs_write(&s->options, &s->trial, &error);
  if (good) {
    s->report.gpus = s->group.ranks;
    outcome_print(&s->report, &s->step, &s->device, &s->options, &s->trial);
    if (s->device.emulated && !s->options.given[OPTION_CSV]) print_links(s);
  }
  return outcome_status(&s->report, &s->options, good ? NULL : &error, s->status);
}

static int drive(int argc, char **argv) {
  static session s;
  s.step = step_linked();
  error_text error;
  if (!options_parse(argc, argv, &s.options, &error)) {
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  if (s.options.given[OPTION_HELP]) {
    help_print(stdout, argv[0], s.step.name, s.step.summary);
    return EXIT_OK;
  }
  s.processes = s.options.given[OPTION_MPI];
  if (s.processes && !processes_begin(&s.place, &error)) {
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  const int status = run_session(&s);
  // The other ranks may be waiting for this one.
  if (s.processes && status == EXIT_BAD_INPUT) processes_abort(status);
  if (s.processes && status == EXIT_CHECK_FAILED && s.report.verdict != CHECK_FAILED)
    processes_abort(status);
  group_close(&s.group);
  if (s.processes) processes_end();
  trial_free(&s.trial);
  tensors_close(&s.files);
  return status;
}

int main(int argc, char **argv) { return finish_run(drive, argc, argv); }

// Runs one step on one problem, checks it, times it, and prints a report.
#define _GNU_SOURCE
#include "device/device.h"
#include "driver/outcome.h"
#include "driver/outputs.h"
#include "finish/finish.h"
#include "measure/measure.h"
#include "options/help.h"
#include "options/options.h"
#include "tensors/tensors.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  attention_step step;
  options options;
  device_info device;
  tensor_files files;
  trial trial;
  report report;
  bool launch_failed;
} session;

static bool open_device(session *s, error_text *error) {
  if (!device_open(&s->device, error) ||
      !options_fit_device(&s->options, s->device.emulated, error) ||
      !options_fit_one_gpu(&s->options, error)) {
    return false;
  }
  if (s->options.given[OPTION_EMU_SEED]) device_set_schedule(s->options.emu_seed);
  return true;
}

// Finds all errors that can be known before the work begins.
static bool prepare(session *s, error_text *error) {
  attention_shape shape;
  if (!tensors_open(&s->options, s->device.emulated, &s->files, &shape, error) ||
      !step_configure(&s->step, s->options.config, error) ||
      !trial_create(&s->trial, &shape, error)) {
    return false;
  }
  s->trial.o_alone = s->options.given[OPTION_O_ALONE];
  s->trial.bare = s->options.given[OPTION_NO_CHECK];
  return trial_supported(&s->trial, &s->step, error) && outputs_writable(&s->options, error) &&
         tensors_fill(&s->options, &s->files, &s->trial, error) && trial_upload(&s->trial, error);
}

static bool run(session *s, error_text *error) {
  // An emulated launch can take a while and cannot show its progress.
  const bool announce = s->device.emulated && isatty(STDERR_FILENO);
  if (announce) fprintf(stderr, "running %s on the emulator ...", s->step.name);
  device_counts_reset();
  bool good = trial_run(&s->trial, &s->step, NULL, error);
  s->report.counts = device_counts_read();
  // An early kernel may run beside the launch before it. The sanitizer finds races of two launches, if there are two.
  if (good && s->report.counts.early_launches > 0)
    good = trial_run_in_a_row(&s->trial, &s->step, NULL, error);
  s->launch_failed = s->trial.launch_failed;
  if (announce) fputs("\r\033[K", stderr);
  s->report.workspace_bytes = s->trial.workspace.bytes;
  return good;
}

static bool is_timed(const session *s) {
  return !s->device.emulated && !s->options.given[OPTION_NO_TIME];
}

// A wrong result is not an error here; the verdict goes to the report, and decides what follows. The reader
// is told when float32 is too imprecise for the input.
static bool check(session *s, error_text *error) {
  if (s->options.given[OPTION_NO_CHECK]) return true;
  if (!trial_reference(&s->trial, error)) return false;
  const bool right =
      trial_check(&s->trial, &s->report.check) &&
      (s->trial.o_alone || trial_check_o_alone(&s->trial, &s->step, &s->report.check));
  s->report.verdict = check_verdict_of(right, &s->report.check);
  return true;
}

static bool measure(session *s, error_text *error) {
  if (!is_timed(s)) return true;
  const bool warm = s->options.given[OPTION_WARM_L2];
  const measure_plan plan =
      measure_plan_make(s->options.rounds, s->options.warm_up, warm ? 0 : s->device.l2_bytes);
  measured_steps measured;
  const bool good = measure_steps(&s->trial, &s->step, 1, &plan, &measured, error);
  if (good) {
    s->report.untimed = measured.contenders[0].failure;
    s->report.figures = timing_figure(&measured.contenders[0]);
    s->report.floor = measured_steps_floor(&measured);
  }
  if (good && !measured_steps_check(&measured, 0, &s->report.check)) {
    s->report.verdict = check_verdict_of(false, &s->report.check);
    s->report.figures = (timing_figures){0};
  }
  s->launch_failed = measured.launch_failed;
  measured_steps_free(&measured);
  return good;
}

static int report_error(const error_text *error) {
  fprintf(stderr, "error: %s\n", error->text);
  return EXIT_BAD_INPUT;
}

static int run_session(session *s) {
  error_text error;
  bool good = open_device(s, &error) && prepare(s, &error) && run(s, &error) && check(s, &error);
  // The speed of a wrong result means nothing, and its tensors must not be found in a file.
  if (good && s->report.verdict != CHECK_FAILED) good = measure(s, &error);
  if (good && s->report.verdict != CHECK_FAILED)
    good = outputs_write(&s->options, &s->trial, &error);
  if (good) outcome_print(&s->report, &s->step, &s->device, &s->options, &s->trial);
  // A launch that fails is a failed check, not bad input.
  return outcome_status(&s->report, &s->options, good ? NULL : &error,
                        s->launch_failed ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT);
}

static int print_help(const session *s, const char *program) {
  help_print(stdout, program, s->step.name, s->step.summary);
  return EXIT_OK;
}

static int drive(int argc, char **argv) {
  session s = {.step = step_linked()};
  error_text error;
  if (!options_parse(argc, argv, &s.options, &error)) return report_error(&error);
  if (s.options.given[OPTION_HELP]) return print_help(&s, argv[0]);
  const int status = run_session(&s);
  trial_free(&s.trial);
  tensors_close(&s.files);
  return status;
}

int main(int argc, char **argv) { return finish_run(drive, argc, argv); }

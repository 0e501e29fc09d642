// Gives the linked step random problems until one fails or the time is up.
#include "device/device.h"
#include "finish/finish.h"
#include "fuzz/run.h"
#include "fuzz/shrink.h"
#include "options/number.h"
#include "progress/progress.h"
#include "shape/shape.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: %s [--seconds N] [--count N] [--seed N]\n"
    "\n"
    "Runs random problems on step %s and checks each, for N seconds (60) or N problems, whichever\n"
    "comes first. The first that fails is printed with the command that repeats it, and shrunk to\n"
    "a small one that still fails. A seed (1) gives the same problems each time.\n";

enum { BATCH = 100 }; // problems for one process

typedef struct {
  int64_t seconds, count;
  uint64_t seed;
} fuzz_options;

static bool parse(int argc, char **argv, fuzz_options *options, error_text *error) {
  *options = (fuzz_options){60, INT64_MAX, 1};
  for (int i = 1; i < argc; i += 2) {
    const char *name = argv[i];
    const char *value = argv[i + 1]; // NULL at the end
    if (!value) return fail(error, "%s needs a value, such as %s 60", name, name);
    bool good = false;
    if (strcmp(name, "--seconds") == 0) {
      good = number_parse_integer(name, value, 1, 1000000, &options->seconds, error);
    } else if (strcmp(name, "--count") == 0) {
      good = number_parse_integer(name, value, 1, INT64_MAX, &options->count, error);
    } else if (strcmp(name, "--seed") == 0) {
      good = number_parse_unsigned(name, value, &options->seed, error);
    } else {
      return fail(error, "%s is not an option: there are --seconds, --count and --seed", name);
    }
    if (!good) return false;
  }
  return true;
}

// The step's program stands beside this one: build/cpu/step04-fuzz, build/cpu/step04.
static const char *program_name(const char *own, char name[PATH_MAX]) {
  snprintf(name, PATH_MAX, "%s", own);
  char *ending = strstr(name, "-fuzz");
  if (ending) *ending = '\0';
  return name;
}

static void print_failure(const fuzz_problem *problem, const error_text *message,
                          const char *program) {
  const bool emulated = device_set_schedule(0);
  printf("  %s: %s\n", shape_describe(&problem->shape).text, message->text);
  printf("  repeat: %s\n", problem_command(problem, program, emulated).text);
}

static int report_failure(const attention_step *step, const fuzz_options *options,
                          const run_outcome *failed, uint64_t number, const char *own_name) {
  char name[PATH_MAX];
  const char *program = program_name(own_name, name);
  printf("fuzz: step %s fails on problem %" PRIu64 " of seed %" PRIu64 "\n", step->name, number,
         options->seed);
  print_failure(&failed->problem, &failed->message, program);
  const shrink_result small = shrink(step, &failed->problem, &failed->message);
  printf("the smallest that still fails, after %zu tries:\n", small.tries);
  print_failure(&small.problem, &small.message, program);
  return EXIT_CHECK_FAILED;
}

// What no problem has tested is not right. A configuration may refuse some of the problems, but not all.
static int report_end(const attention_step *step, const fuzz_options *options, int64_t done,
                      int64_t refused, const error_text *reason, double seconds) {
  if (done == refused) {
    fprintf(stderr, "error: step %s was tested on no problem of seed %" PRIu64, step->name,
            options->seed);
    if (refused > 0)
      fprintf(stderr, ": it cannot take any of the first %" PRId64 ", the last one because %s\n",
              refused, reason->text);
    else
      fprintf(stderr, ": the time was over before the first began; give it more --seconds\n");
    return EXIT_CHECK_FAILED;
  }
  printf("fuzz: step %s is right on %" PRId64 " problems of seed %" PRIu64, step->name,
         done - refused, options->seed);
  if (refused > 0) printf(", and cannot take %" PRId64 " others", refused);
  printf(" (%.0f s)\n", seconds);
  return EXIT_OK;
}

static int fuzz(const attention_step *step, const fuzz_options *options, const char *own_name) {
  const double started = run_seconds();
  progress bar = progress_start("fuzz (s)", (size_t)options->seconds);
  int64_t done = 0, refused = 0;
  error_text reason = {""}; // of the last one that was refused
  while (done < options->count && run_seconds() - started < (double)options->seconds) {
    const int64_t left = options->count - done;
    const size_t count = left < BATCH ? (size_t)left : BATCH;
    const double remaining = (double)options->seconds - (run_seconds() - started);
    const run_outcome outcome =
        run_random(step, options->seed, (uint64_t)done, count, remaining, true);
    done += (int64_t)outcome.done;
    refused += (int64_t)outcome.refused;
    if (outcome.refused > 0) reason = outcome.message;
    progress_show(&bar, (size_t)(run_seconds() - started));
    if (outcome.verdict == RUN_PASSED) continue;
    progress_end(&bar);
    if (outcome.verdict == RUN_FAILED) {
      return report_failure(step, options, &outcome, (uint64_t)done, own_name);
    }
    fprintf(stderr, "error: %s\n", outcome.message.text);
    return EXIT_BAD_INPUT;
  }
  progress_end(&bar);
  return report_end(step, options, done, refused, &reason, run_seconds() - started);
}

static int fuzz_step(int argc, char **argv) {
  const attention_step step = step_linked();
  fuzz_options options;
  error_text error;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      printf(usage, argv[0], step.name);
      return EXIT_OK;
    }
  }
  if (!parse(argc, argv, &options, &error)) {
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  return fuzz(&step, &options, argv[0]);
}

int main(int argc, char **argv) { return finish_run(fuzz_step, argc, argv); }

// Compares two recordings of `make bench` or `make peers`, and says whether something has become
// slower.
#include "compare/table.h"

#include "finish/finish.h"
#include "options/number.h"
#include <string.h>

static const char usage[] =
    "usage: compare OLD.csv NEW.csv [--threshold PERCENT] [--a STEP --b STEP]\n"
    "\n"
    "Pairs the rows of two recordings by step, configuration and shape, and judges each pair by "
    "its\n"
    "runs, which stand beside NAME.csv in NAME-samples.csv. Something is slower (or faster) when "
    "the\n"
    "ratio of the medians differs from 1 by more than chance, by more than PERCENT (default 1), "
    "and by\n"
    "more than three times what the cells of the two recordings scatter.\n"
    "\n"
    "--a STEP --b STEP compares the step A of OLD with the step B of NEW, shape by shape, such as\n"
    "--a 05 --b 06; OLD and NEW may be the same file.\n"
    "\n"
    "Exit status: 0 when nothing is slower, 1 when something is, 2 when the two cannot be "
    "compared.\n";

typedef struct {
  const char *old_path, *new_path;
  const char *old_step, *new_step; // NULL: all steps, each with itself
  double threshold;                // a part: 0.01 for 1 %
} options;

static bool parse_option(const char *name, const char *value, options *options, error_text *error) {
  if (!value) return fail(error, "%s is the last word: give it a value", name);
  if (strcmp(name, "--a") == 0) {
    options->old_step = value;
  } else if (strcmp(name, "--b") == 0) {
    options->new_step = value;
  } else if (strcmp(name, "--threshold") == 0) {
    float percent = 0;
    if (!number_parse_float("the threshold in percent", value, &percent, error)) return false;
    if (percent < 0) return fail(error, "the threshold is %s: it can be 0 or more percent", value);
    options->threshold = (double)percent / 100;
  } else {
    return fail(error, "there is no option %s: see compare --help", name);
  }
  return true;
}

static bool parse(int argc, char **argv, options *options, error_text *error) {
  const char **const paths[] = {&options->old_path, &options->new_path};
  size_t given = 0;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--", 2) == 0) {
      if (!parse_option(argv[i], argv[i + 1], options, error)) return false;
      i++;
    } else if (given == 2) {
      return fail(error, "%s is one file too many: two are compared", argv[i]);
    } else {
      *paths[given++] = argv[i];
    }
  }
  if (given < 2) {
    return fail(error, "give the two recordings, such as make compare OLD=a.csv NEW=b.csv, or one "
                       "and two of its steps, such as make compare OLD=a.csv A=05 B=06");
  }
  if (!options->old_step != !options->new_step) {
    return fail(error, "give both steps, such as A=05 B=06, or neither");
  }
  return true;
}

static bool same_device(const recording *old_run, const recording *new_run, error_text *error) {
  return strcmp(old_run->device, new_run->device) == 0 ||
         fail(error,
              "%s is of an %s and %s of an %s: times of different GPUs say nothing about the "
              "code",
              old_run->table.path, old_run->device, new_run->table.path, new_run->device);
}

// Returns the exit status, which says whether something is slower.
static int report(const recording *old_run, const recording *new_run, const pairing *pairing,
                  const judgement *judgement) {
  table_print(stdout, old_run, new_run, pairing, judgement);
  fflush(stdout); // so that the warnings come behind it
  table_print_warnings(stderr, old_run, new_run, pairing, judgement);
  for (size_t i = 0; i < pairing->count; i++) {
    if (pairing->comparisons[i].verdict == VERDICT_SLOWER) return EXIT_CHECK_FAILED;
  }
  return EXIT_OK;
}

static int compare(int argc, char **argv) {
  options options = {.threshold = 0.01};
  recording old_run = {0};
  recording new_run = {0};
  pairing pairing = {0};
  judgement judgement;
  error_text error;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(usage, stdout);
    return EXIT_OK;
  }
  int status = EXIT_BAD_INPUT;
  if (parse(argc, argv, &options, &error) && recording_read(options.old_path, &old_run, &error) &&
      recording_read(options.new_path, &new_run, &error) &&
      same_device(&old_run, &new_run, &error) &&
      pairing_create(&old_run, options.old_step, &new_run, options.new_step, &pairing, &error) &&
      judge(pairing.comparisons, pairing.count, options.threshold, options.old_step == NULL,
            &judgement, &error)) {
    status = report(&old_run, &new_run, &pairing, &judgement);
  } else {
    fprintf(stderr, "error: %s\n", error.text);
  }
  pairing_free(&pairing);
  recording_free(&old_run);
  recording_free(&new_run);
  return status;
}

int main(int argc, char **argv) { return finish_run(compare, argc, argv); }

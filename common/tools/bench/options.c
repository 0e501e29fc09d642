#define _GNU_SOURCE
#include "bench/options.h"

#include "options/number.h"
#include "timing/timing.h"
#include <getopt.h>
#include <string.h>

const char bench_usage[] =
    "usage: bench DATA_FOLDER NAME STEP.so... [-- OPTION...]\n"
    "\n"
    "Measures the steps over a grid of shapes, on a GPU: 16384 rows and 2048 columns in all, as "
    "sequences\n"
    "of 128 to 16384 and heads of 64 and 128, causal and not, and 4x8x512x64; in fp16, and of 512 "
    "and 4096\n"
    "in bf16 as well. In each "
    "cell of the grid every step is checked against a float64 reference (of some rows of every "
    "head, where\n"
    "the sequence is long), then those that are right are timed in turn. A wrong step is FAILED "
    "and not\n"
    "timed, one that does not fit is skipped.\n"
    "\n"
    "With --decode it measures the shapes of make decode in place of the grid: one query, or four "
    "under the\n"
    "causal mask, against 1024, 4096, 16384 and 65536 keys, in batches of 1, 4, 16 and 64, with 32 "
    "or 64\n"
    "heads of 128 and as many or fewer heads of K and V, in bf16. The largest take 13 GB of memory "
    "on the\n"
    "host as well. The table then has microseconds in place of TFLOP/s, of a launch; below 50, of "
    "one in a\n"
    "replayed graph.\n"
    "\n"
    "Writes DATA_FOLDER/<device>/NAME.csv and NAME-samples.csv, after every cell. Rows that are "
    "there\n"
    "already, of this commit, device, driver and CUDA version, are kept and not measured again, "
    "in a\n"
    "cell that has all of its steps; a cell that lacks one is measured whole, as its steps are "
    "compared by\n"
    "pairs of one round. Rows of another commit leave the files. A commit that does not name the "
    "code,\n"
    "because files were changed after it, keeps nothing.\n"
    "\n"
    "  --decode           one query, or four, and many keys, in place of the grid\n"
    "  --quick            a part of the grid: fp16, sequences of 128, 512 and 2048; of decode six "
    "shapes\n"
    "                     with one query, 32 heads on 8 and up to 16384 keys\n"
    "  --fresh            measure everything anew\n"
    "  --rounds N         bursts of each row, 1 to 30 (default: 10, and more until the row was "
    "measured\n"
    "                     for half a second or its noise is 0.5 %)\n"
    "  --seconds X        but no longer than this for a row, with at least one burst (default 4)\n"
    "  --only STEP        this step, by number or name; can be given several times\n"
    "  --dtype TYPE       fp16 or bf16 alone\n"
    "  --head-dim N       64 or 128 alone\n"
    "  --seq N            one length alone: 128, 256, ... 16384; of decode that of K and V: 1024, "
    "4096,\n"
    "                     16384 or 65536\n"
    "  --causal yes|no    with the mask alone, or without; of decode four queries alone, or one\n"
    "  --help             this text\n"
    "\n"
    "Exit status: 0 all is well, 1 a step is wrong, 2 something prevented the run.\n";

typedef enum {
  DECODE = 1,
  QUICK,
  FRESH,
  HELP,
  ROUNDS,
  SECONDS,
  ONLY,
  DTYPE,
  HEAD_DIM,
  SEQ,
  CAUSAL
} option_number;

static const struct option table[] = {
    {"decode", no_argument, NULL, DECODE},
    {"quick", no_argument, NULL, QUICK},
    {"fresh", no_argument, NULL, FRESH},
    {"help", no_argument, NULL, HELP},
    {"rounds", required_argument, NULL, ROUNDS},
    {"seconds", required_argument, NULL, SECONDS},
    {"only", required_argument, NULL, ONLY},
    {"dtype", required_argument, NULL, DTYPE},
    {"head-dim", required_argument, NULL, HEAD_DIM},
    {"seq", required_argument, NULL, SEQ},
    {"causal", required_argument, NULL, CAUSAL},
    {NULL, 0, NULL, 0},
};

static bool parse_whole(const char *name, const char *text, int64_t most, int64_t *value,
                        error_text *error) {
  return number_parse_integer(name, text, 1, most, value, error);
}

static bool parse_size(const char *name, const char *text, int *size, error_text *error) {
  int64_t value = 0;
  if (!parse_whole(name, text, 1 << 30, &value, error)) return false;
  *size = (int)value;
  return true;
}

// Returns 0 for the first word and 1 for the second.
static bool parse_either(const char *name, const char *text, const char *first, const char *second,
                         int *value, error_text *error) {
  if (strcmp(text, first) != 0 && strcmp(text, second) != 0) {
    return fail(error, "%s is \"%s\": give %s or %s", name, text, first, second);
  }
  *value = strcmp(text, second) == 0;
  return true;
}

static bool parse_rounds(const char *text, bench_options *options, error_text *error) {
  int64_t value = 0;
  if (!parse_whole("--rounds", text, TIMING_MOST_ROUNDS, &value, error)) return false;
  options->rounds = (size_t)value;
  return true;
}

static bool parse_seconds(const char *text, bench_options *options, error_text *error) {
  float value = 0;
  if (!number_parse_float("--seconds", text, &value, error)) return false;
  options->seconds = (double)value;
  return value > 0 || fail(error, "--seconds is %s: give a number above 0", text);
}

static bool add_only(const char *text, bench_options *options, error_text *error) {
  if (options->only_count == BENCH_MOST_ONLY) {
    return fail(error, "--only is given more than %d times", BENCH_MOST_ONLY);
  }
  options->only[options->only_count++] = text;
  return true;
}

static bool set_option(int number, const char *value, bench_options *options, error_text *error) {
  grid_filter *filter = &options->filter;
  switch ((option_number)number) {
  case DECODE: return filter->decode = true;
  case QUICK: return filter->quick = true;
  case FRESH: return options->fresh = true;
  case HELP: return options->help = true;
  case ROUNDS: return parse_rounds(value, options, error);
  case SECONDS: return parse_seconds(value, options, error);
  case ONLY: return add_only(value, options, error);
  case DTYPE: return parse_either("--dtype", value, "fp16", "bf16", &filter->dtype, error);
  case HEAD_DIM: return parse_size("--head-dim", value, &filter->head_dim, error);
  case SEQ: return parse_size("--seq", value, &filter->seq, error);
  case CAUSAL: return parse_either("--causal", value, "no", "yes", &filter->causal, error);
  }
  return false;
}

bool bench_options_parse(int argc, char **argv, bench_options *options, error_text *error) {
  *options = (bench_options){.filter = GRID_WHOLE, .seconds = 4};
  opterr = 0; // the sentences are ours
  optind = 0;
  int number = 0;
  while (!options->help && (number = getopt_long(argc, argv, "+:", table, NULL)) != -1) {
    if (number == ':') {
      return fail(error, "%s needs a value (--help lists the options)", argv[optind - 1]);
    }
    if (number == '?') {
      return fail(error, "%s is not an option of the bench (--help lists them)", argv[optind - 1]);
    }
    if (!set_option(number, optarg, options, error)) return false;
  }
  if (!options->help && optind < argc) {
    return fail(error,
                "%s is not an option of the bench: options begin with -- (--help lists them)",
                argv[optind]);
  }
  attention_shape shapes[GRID_MOST];
  if (options->help || grid_make(&options->filter, shapes) > 0) return true;
  if (options->filter.decode) {
    return fail(error, "decode has no such shape: its shapes are in bf16 with head_dim 128, of "
                       "1024, 4096, 16384 and 65536 keys (--quick: not 65536, and no mask)");
  }
  return fail(error,
              "the grid has no such shape: it has sequences of 128, 256, ... 16384, and heads "
              "of 64 and 128, and in bf16 512 and 4096 (--quick: 128, 512 and 2048, fp16)");
}

bool bench_options_want(const bench_options *options, const char *step) {
  for (size_t i = 0; i < options->only_count; i++) {
    const char *wanted = options->only[i];
    const size_t number_length = strcspn(step, "_");
    const bool is_number =
        strlen(wanted) == number_length && strncmp(step, wanted, number_length) == 0;
    if (is_number || strcmp(step, wanted) == 0) return true;
  }
  return options->only_count == 0;
}

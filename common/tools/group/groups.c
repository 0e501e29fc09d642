// Times the steps for several GPUs against one step on one GPU, over lengths, with and without a mask, and the exchange
// of K and V alone. Writes one line of CSV for each.
#define _GNU_SOURCE
#include "csv/line.h"
#include "device/device.h"
#include "finish/finish.h"
#include "group/group.h"
#include "inputs/inputs.h"
#include "options/number.h"
#include "options/options.h"
#include "record/folder.h"
#include "record/record.h"
#include "result/result.h"
#include "shape/shape.h"
#include "statistics/statistics.h"
#include "statistics/summary.h"
#include <nccl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: groups DATA_FOLDER NAME ONE.so SEVERAL.so[:variant=NAME]... -- [LENGTH...]\n"
    "\n"
    "Times the step ONE on one GPU and the steps SEVERAL on 2, 4, 8, ... GPUs of the machine, in "
    "turn, for 16 heads of\n"
    "head_dim 128 in bf16, with and without a causal mask, for each length (16384 32768 65536), "
    "and writes\n"
    "DATA_FOLDER/<device>/NAME.csv. Variants are timed on all GPUs alone.\n";

enum { MOST = 40, ROUNDS = 7, CHECKED_ROWS = 4, LONGEST = 1 << 21, MOST_SIZES = 8 };

// --- what is timed beside the steps --------------------------------------------------------------

// The step that runs on one GPU, in the form of a step for a group of one.
static attention_step alone;

static cudaError_t forward_alone(const attention_args *args, const attention_group *group,
                                 cudaStream_t stream) {
  (void)group;
  return alone.forward(args, stream);
}

static size_t workspace_alone(const attention_shape *shape, int ranks) {
  (void)ranks;
  return alone.workspace_bytes(shape);
}

// Equal shares for the exchange alone, which leaves out the rows of a remainder; a single rank has all rows.
static void equal_rows(int seq, int rank, int ranks, attention_rows rows[2]) {
  rows[0] = (attention_rows){seq / ranks * rank, seq / ranks};
  rows[1] = (attention_rows){seq, 0};
}

static size_t share_bytes(const attention_shape *shape, int ranks) {
  const size_t row_bytes = (size_t)shape->head_dim * sizeof(uint16_t);
  return (size_t)shape->batch * (size_t)shape->kv_heads * (size_t)(shape->seq_kv / ranks) *
         row_bytes;
}

static size_t workspace_of_exchange(const attention_shape *shape, int ranks) {
  return 2 * (size_t)ranks * share_bytes(shape, ranks);
}

// K and V of all ranks to all ranks, and nothing else.
static cudaError_t exchange(const attention_args *args, const attention_group *group,
                            cudaStream_t stream) {
  const size_t bytes = share_bytes(&args->shape, group->ranks);
  char *V_all = (char *)args->workspace + (size_t)group->ranks * bytes;
  ncclResult_t result =
      ncclAllGather(args->k, args->workspace, bytes, ncclInt8, group->comm, stream);
  if (result == ncclSuccess)
    result = ncclAllGather(args->v, V_all, bytes, ncclInt8, group->comm, stream);
  return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown;
}

static const attention_step exchange_alone = {.name = "exchange_alone",
                                              .forward_group = exchange,
                                              .group_workspace_bytes = workspace_of_exchange,
                                              .group_rows = equal_rows};

// --- contenders ----------------------------------------------------------------------------------

typedef struct {
  attention_step step;
  const char *variant; // NULL or its name
  int gpus;
  int size;     // the number of its size in session.sizes
  bool checked; // it computes attention
  gpu_group group;
  double milliseconds[ROUNDS];
} contender;

typedef struct {
  device_info device;
  record_folder folder;
  int gpus;
  gpu_group sizes[MOST_SIZES]; // groups of 1, 2, 4, ... GPUs, and of all, connected once
  int size_count;
  contender contenders[MOST];
  int count;
  int rounds;
  bool failed; // a contender computed a wrong result, or its launch failed
  FILE *lines;
} session;

// Connecting takes NCCL a second or more, so all contenders of a size use the same connections.
static bool connect_sizes(session *s, error_text *error) {
  for (int gpus = 1; gpus <= s->gpus;
       gpus = gpus < s->gpus && 2 * gpus > s->gpus ? s->gpus : 2 * gpus)
    if (!group_open(&s->sizes[s->size_count++], gpus, error)) return false;
  return true;
}

static bool deal_out(session *s, const trial *trial, error_text *error) {
  for (int i = 0; i < s->count; i++) {
    contender *c = &s->contenders[i];
    c->group = s->sizes[c->size];
    if (!group_supported(&c->step, &trial->shape, c->gpus, error) ||
        !group_deal(&c->group, &c->step, trial, error))
      return false;
  }
  return true;
}

// A wrong result ends the program: its time would mean nothing.
static bool check_contender(contender *c, trial *trial, error_text *error) {
  c->group.shape = trial->shape;
  if (!c->checked) return true;
  check_result check;
  if (!group_run(&c->group, &c->step, 1, trial, error)) return false;
  return group_check(&c->group, trial, &check) ||
         fail(error, "%s on %d GPUs: %s", c->step.name, c->gpus, check.message.text);
}

// Several short runs of each contender, in turn, so that all are timed at the same temperature.
static bool time_contenders(session *s, const attention_shape *shape, error_text *error) {
  for (int round = 0; round < s->rounds; round++) {
    for (int i = 0; i < s->count; i++) {
      contender *c = &s->contenders[i];
      // About 40 ms of work at 600 TFLOP/s, in 3 to 50 launches.
      const double launches = 40 * 600e9 / (shape_operations(shape) / c->gpus);
      const int number = s->device.emulated ? 1
                         : launches < 3     ? 3
                         : launches > 50    ? 50
                                            : (int)launches;
      if (!group_time(&c->group, &c->step, number, 1, &c->milliseconds[round], error)) return false;
      if (!s->device.emulated) usleep(50000); // for the GPUs to cool
    }
  }
  return true;
}

// --- the record ----------------------------------------------------------------------------------

// The bytes of K and V that reach a rank from the others in one launch.
static double arriving_bytes(const attention_shape *shape, int gpus) {
  return 2.0 * sizeof(uint16_t) * (double)shape_kv_count(shape) * (gpus - 1) / gpus;
}

static void write_line(FILE *file, bool names, const session *s, const contender *c,
                       const attention_shape *shape, const record_conditions *conditions) {
  const statistics_summary times =
      statistics_summarise(c->milliseconds, (size_t)s->rounds, c->milliseconds, (size_t)s->rounds);
  const double one = statistics_median(s->contenders[0].milliseconds, (size_t)s->rounds);
  const double bytes = arriving_bytes(shape, c->gpus);
  csv_line line = csv_line_begin(file, names);
  csv_line_text(&line, "step", c->step.name);
  csv_line_text(&line, "variant", c->variant ? c->variant : "");
  csv_line_text(&line, "device", s->device.name);
  csv_line_number(&line, "gpus", true, "%d", c->gpus);
  csv_line_text(&line, "dtype", shape_dtype_name(shape->dtype));
  csv_line_number(&line, "batch", true, "%d", shape->batch);
  csv_line_number(&line, "heads", true, "%d", shape->heads);
  csv_line_number(&line, "kv_heads", true, "%d", shape->kv_heads);
  csv_line_number(&line, "seq_q", true, "%d", shape->seq_q);
  csv_line_number(&line, "seq_kv", true, "%d", shape->seq_kv);
  csv_line_number(&line, "head_dim", true, "%d", shape->head_dim);
  csv_line_number(&line, "causal", true, "%d", shape->causal);
  csv_line_text(&line, "check", c->checked ? "ok" : "skipped"); // a wrong result ends the program
  csv_line_number(&line, "median_ms", true, "%.9g", times.median);
  csv_line_number(&line, "ci_low_ms", true, "%.9g", times.low);
  csv_line_number(&line, "ci_high_ms", true, "%.9g", times.high);
  csv_line_number(&line, "tflops", c->checked, "%.9g", result_tflops(shape, &times));
  csv_line_number(&line, "efficiency", c->checked, "%.4f", one / c->gpus / times.median);
  csv_line_number(&line, "arriving_bytes", !c->variant, "%.0f", bytes); // others of some variants
  csv_line_number(&line, "gb_per_s", !c->checked, "%.1f", bytes / times.median * 1e-6);
  record_add_columns(&line, conditions);
  csv_line_end(&line);
}

static void print_line(const session *s, const contender *c, const attention_shape *shape) {
  const double median = statistics_median(c->milliseconds, (size_t)s->rounds);
  const double one = statistics_median(s->contenders[0].milliseconds, (size_t)s->rounds);
  printf("%8d  %-6s  %-18s  %4d  %9.4f ms", shape->seq_q, shape->causal ? "causal" : "full",
         c->variant ? c->variant : c->step.name, c->gpus, median);
  if (c->checked)
    printf("  %6.1f %%\n", 100 * one / c->gpus / median);
  else
    printf("  %6.1f GB/s\n", arriving_bytes(shape, c->gpus) / median * 1e-6);
  fflush(stdout);
}

// Times one length, without a mask and with it.
static bool time_length(session *s, attention_shape shape, error_text *error) {
  trial trial;
  if (!trial_create(&trial, &shape, error)) return false;
  trial.bare = true;
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_Q, 1, trial.q);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_K, 1, trial.k);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
  const bool dealt = deal_out(s, &trial, error);
  bool good = dealt;
  for (int causal = 0; causal < 2 && good; causal++) {
    trial.shape.causal = causal;
    good = trial_reference_some(&trial, CHECKED_ROWS, 1, error);
    for (int i = 0; i < s->count && good; i++)
      good = check_contender(&s->contenders[i], &trial, error);
    record_conditions conditions = {.before = record_read_state(&s->device)};
    good = good && time_contenders(s, &trial.shape, error);
    conditions.after = record_read_state(&s->device);
    conditions.origin = record_read_origin();
    for (int i = 0; i < s->count && good; i++) {
      if (ftell(s->lines) == 0)
        write_line(s->lines, true, s, &s->contenders[0], &trial.shape, &conditions);
      write_line(s->lines, false, s, &s->contenders[i], &trial.shape, &conditions);
      print_line(s, &s->contenders[i], &trial.shape);
    }
  }
  s->failed = dealt && !good;
  for (int i = 0; i < s->count; i++) group_undeal(&s->contenders[i].group);
  trial_free(&trial);
  return good;
}

static bool add(session *s, const contender *added, error_text *error) {
  if (s->count == MOST) return fail(error, "give fewer steps: there is room for %d", MOST);
  s->contenders[s->count++] = *added;
  return true;
}

// A step on each number of GPUs, or a variant on all.
static bool add_sizes(session *s, contender added, error_text *error) {
  bool good = true;
  for (int size = added.variant ? s->size_count - 1 : 1; size < s->size_count && good; size++) {
    added.size = size;
    added.gpus = s->sizes[size].ranks;
    good = add(s, &added, error);
  }
  return good;
}

static bool load_several(session *s, char *path, error_text *error) {
  static const char of_variant[] = ":variant=";
  contender added = {.checked = true};
  char *colon = strstr(path, of_variant);
  if (colon) {
    *colon = '\0';
    added.variant = colon + sizeof of_variant - 1;
  }
  return step_load_group(path, &added.step, error) && add_sizes(s, added, error);
}

static bool load_contenders(session *s, int argc, char **argv, int *next, error_text *error) {
  if (!step_load(argv[(*next)++], &alone, error)) return false;
  const contender one = {.step = {.name = alone.name,
                                  .forward_group = forward_alone,
                                  .group_workspace_bytes = workspace_alone,
                                  .group_rows = equal_rows},
                         .gpus = 1,
                         .checked = true};
  if (!add(s, &one, error)) return false;
  for (; *next < argc && strcmp(argv[*next], "--") != 0; ++*next)
    if (!load_several(s, argv[*next], error)) return false;
  if (s->count == 1) return fail(error, "give a step for one GPU, and one for several or more");
  return add_sizes(s, (contender){.step = exchange_alone}, error);
}

static bool run(session *s, int argc, char **argv, error_text *error) {
  static char *const usual[] = {"16384", "32768", "65536"};
  int next = 3;
  if (!device_open(&s->device, error) ||
      !device_ok(cudaGetDeviceCount(&s->gpus), "counting the GPUs", error))
    return false;
  if (s->gpus < 2)
    return fail(error, "this machine has one GPU, and several are to be timed: run it on another");
  s->rounds = s->device.emulated ? 1 : ROUNDS; // its times mean nothing
  if (!record_folder_make(argv[1], &s->device, &s->folder, error) || !connect_sizes(s, error) ||
      !load_contenders(s, argc, argv, &next, error))
    return false;
  const int given = argc - next - 1;
  const int count = given > 0 ? given : 3;
  char *text = NULL;
  size_t length = 0;
  s->lines = open_memstream(&text, &length);
  if (!s->lines) return fail(error, "not enough memory for the record");
  bool good = true;
  for (int i = 0; i < count && good; i++) {
    int64_t seq = 0;
    good = number_parse_integer("the length", given > 0 ? argv[next + 1 + i] : usual[i], 256,
                                LONGEST, &seq, error);
    const attention_shape shape = {
        .dtype = ATTENTION_BF16,
        .batch = 1,
        .heads = 16,
        .kv_heads = 16,
        .seq_q = (int)seq,
        .seq_kv = (int)seq,
        .head_dim = 128,
        .scale = options_default_scale(128),
    };
    good = good && time_length(s, shape, error);
  }
  fclose(s->lines);
  for (int i = 0; i < s->size_count; i++) group_close(&s->sizes[i]);
  good = good && record_save(&s->folder, argv[2], text, length, error);
  free(text);
  return good;
}

static int time_groups(int argc, char **argv) {
  static session s;
  error_text error;
  if (argc < 5) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  if (run(&s, argc, argv, &error)) return EXIT_OK;
  fprintf(stderr, "error: %s\n", error.text);
  return s.failed ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(time_groups, argc, argv); }

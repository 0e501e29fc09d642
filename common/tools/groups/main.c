// Times the steps for several GPUs against one step on one GPU, over lengths, with and without a mask, and the parts of
// their work alone. Writes one line of CSV for each, and one for each of its rounds.
#define _GNU_SOURCE
#include "finish/finish.h"
#include "groups/session.h"
#include "inputs/inputs.h"
#include "options/number.h"
#include "options/options.h"
#include "timing/event_clock.h"
#include <stdlib.h>

static const char usage[] =
    "usage: groups DATA_FOLDER NAME ONE.so SEVERAL.so[:variant=NAME]... -- [LENGTH...]\n"
    "\n"
    "Times the step ONE on one GPU and the steps SEVERAL on 2, 4, 8, ... GPUs of the machine, in "
    "rounds of random\n"
    "order, for 16 heads of head_dim 128 in bf16, with and without a causal mask, for each length "
    "(16384 32768\n"
    "65536), and writes DATA_FOLDER/<device>/NAME.csv, and every round to NAME-samples.csv. "
    "Variants are timed\n"
    "on all GPUs alone.\n";

enum { FEWEST_ROWS = 4, LONGEST = 1 << 21 };

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
    c->group.by_heads = c->part == GROUPS_PRODUCTS;
    if (!group_supported(&c->step, &trial->shape, c->gpus, error) ||
        !group_deal(&c->group, &c->step, trial, error))
      return false;
  }
  return true;
}

// The reference of all rows would take minutes.
static bool make_reference(trial *trial, error_text *error) {
  const size_t rows = selection_quick_rows(&trial->shape);
  return trial_reference_some(trial, rows < FEWEST_ROWS ? FEWEST_ROWS : rows, 1, error);
}

// A sentence of a rank that failed says by itself which contender it was.
static bool is_wrong(const contender *c, const check_result *check, error_text *error) {
  if (!c->group.failed)
    return fail(error, "%s on %d GPUs: %s", c->step.name, c->gpus, check->message.text);
  *error = check->message;
  return false;
}

// A wrong result ends the program: its time would mean nothing. The launches that are timed compute O alone.
static bool check_contender(contender *c, trial *trial, error_text *error) {
  c->group.shape = trial->shape;
  if (!groups_computes(c)) return true;
  check_result check;
  groups_name_work(c, &trial->shape, "checked");
  if (!group_run(&c->group, &c->step, 1, trial, error)) return false;
  return (group_check(&c->group, trial, &check) &&
          group_check_o_alone(&c->group, &c->step, trial, &check)) ||
         is_wrong(c, &check, error);
}

static bool check_timed(contender *c, trial *trial, error_text *error) {
  if (!groups_computes(c)) return true;
  check_result check = {0};
  groups_name_work(c, &trial->shape, "checked");
  return group_check_timed(&c->group, &c->step, trial, &check) || is_wrong(c, &check, error);
}

typedef bool check_function(contender *c, trial *problem, error_text *error);

static bool check_all(session *s, trial *trial, check_function *check, error_text *error) {
  for (int i = 0; i < s->count; i++)
    if (!check(&s->contenders[i], trial, error)) return false;
  return true;
}

// Times all contenders on the trial's problem, and then looks whether they still solve it.
static bool time_all(session *s, trial *trial, error_text *error) {
  const timing_plan plan = groups_plan(s->device.emulated);
  return groups_choose_launches(s, &trial->shape, error) &&
         groups_time(s, &trial->shape, &plan, error) && check_all(s, trial, check_timed, error);
}

// The groups of a size share their connections, which have been ended.
static void forget_connections(gpu_group *group) {
  group->failed = true;
  for (int i = 0; i < group->count; i++) group->members[i].group.comm = NULL;
}

// Ends what a rank that failed has left in the exchange, before memory is freed on any of its GPUs.
static void end_failed(session *s) {
  for (int i = 0; i < s->count; i++) {
    const int size = s->contenders[i].size;
    if (!s->contenders[i].group.failed) continue;
    group_abort(&s->contenders[i].group);
    forget_connections(&s->sizes[size]);
    for (int j = 0; j < s->count; j++)
      if (s->contenders[j].size == size) forget_connections(&s->contenders[j].group);
  }
}

// Writes the results of a length and a mask, and at the beginning the names of the columns.
static void write_results(session *s, const attention_shape *shape,
                          const record_conditions *conditions) {
  for (int i = 0; i < s->count; i++) {
    const contender *c = &s->contenders[i];
    if (ftell(s->lines) == 0) {
      groups_write_row(s->lines, true, s, c, shape, conditions);
      groups_write_samples(s->samples, true, s, c, shape, conditions);
    }
    groups_write_row(s->lines, false, s, c, shape, conditions);
    groups_write_samples(s->samples, false, s, c, shape, conditions);
    groups_print_row(s, c, shape);
  }
}

// Times one length, without a mask and with it.
static bool time_length(session *s, attention_shape shape, error_text *error) {
  trial trial;
  if (!trial_create(&trial, &shape, error)) return false;
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_Q, 1, trial.q);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_K, 1, trial.k);
  inputs_fill(&shape, INPUTS_NORMAL, INPUTS_V, 1, trial.v);
  const bool dealt = deal_out(s, &trial, error);
  bool good = dealt, referenced = true;
  for (int causal = 0; causal < 2 && good; causal++) {
    trial.shape.causal = causal;
    referenced = make_reference(&trial, error);
    good = referenced && check_all(s, &trial, check_contender, error);
    record_conditions conditions = {.before = record_read_state(&s->device)};
    good = good && time_all(s, &trial, error);
    conditions.after = record_read_state(&s->device);
    conditions.origin = record_read_origin();
    if (good) write_results(s, &trial.shape, &conditions);
  }
  s->failed = dealt && referenced && !good; // else the machine has too little memory
  end_failed(s);
  for (int i = 0; i < s->count; i++) group_undeal(&s->contenders[i].group);
  trial_free(&trial);
  return good;
}

typedef struct {
  char *text;
  size_t length;
} text_file;

static bool save(const session *s, const text_file *lines, const text_file *samples,
                 const char *name, error_text *error) {
  char samples_name[1024];
  snprintf(samples_name, sizeof samples_name, "%.1000s-samples", name);
  return record_save(&s->folder, name, lines->text, lines->length, error) &&
         record_save(&s->folder, samples_name, samples->text, samples->length, error);
}

// Times the lengths, or the usual ones where none is given, and saves the results.
static bool time_lengths(session *s, char **given, int count, const char *name, error_text *error) {
  static char *usual[] = {"16384", "32768", "65536"};
  text_file lines = {0}, samples = {0};
  if (count <= 0) {
    given = usual;
    count = 3;
  }
  s->lines = open_memstream(&lines.text, &lines.length);
  s->samples = open_memstream(&samples.text, &samples.length);
  bool good = (s->lines && s->samples) || fail(error, "not enough memory for the record");
  for (int i = 0; i < count && good; i++) {
    int64_t seq = 0;
    good = number_parse_integer("the length", given[i], 256, LONGEST, &seq, error);
    const attention_shape shape = {
        .dtype = ATTENTION_BF16,
        .batch = 1,
        .heads = GROUPS_HEADS,
        .kv_heads = GROUPS_HEADS,
        .seq_q = (int)seq,
        .seq_kv = (int)seq,
        .head_dim = 128,
        .scale = options_default_scale(128),
    };
    good = good && time_length(s, shape, error);
  }
  if (s->lines) fclose(s->lines);
  if (s->samples) fclose(s->samples);
  for (int i = 0; i < s->size_count; i++) group_close(&s->sizes[i]);
  good = good && save(s, &lines, &samples, name, error);
  free(lines.text);
  free(samples.text);
  return good;
}

static bool run(session *s, int argc, char **argv, error_text *error) {
  int next = 3;
  if (!device_open(&s->device, error) ||
      !device_ok(cudaGetDeviceCount(&s->gpus), "counting the GPUs", error))
    return false;
  if (s->gpus < 2)
    return fail(error, "this machine has one GPU, and several are to be timed: run it on another");
  s->gauge = (groups_gauge){group_time, monitor_read_devices, event_rest};
  if (!record_folder_make(argv[1], &s->device, &s->folder, error) || !connect_sizes(s, error) ||
      !groups_load_contenders(s, argc, argv, &next, error))
    return false;
  return time_lengths(s, argv + next + 1, argc - next - 1, argv[2], error);
}

static int time_groups(int argc, char **argv) {
  static session s;
  error_text error;
  if (argc < 5) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  record_begin();
  if (run(&s, argc, argv, &error)) return EXIT_OK;
  fprintf(stderr, "error: %s\n", error.text);
  return s.failed ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(time_groups, argc, argv); }

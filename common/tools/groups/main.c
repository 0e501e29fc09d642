// Times the steps for several GPUs against one step on one GPU, over lengths, with and without a mask, and the exchange
// of K and V alone. Writes one line of CSV for each.
#define _GNU_SOURCE
#include "finish/finish.h"
#include "groups/session.h"
#include "inputs/inputs.h"
#include "options/number.h"
#include "options/options.h"
#include "shape/shape.h"
#include <stdlib.h>
#include <unistd.h>

static const char usage[] =
    "usage: groups DATA_FOLDER NAME ONE.so SEVERAL.so[:variant=NAME]... -- [LENGTH...]\n"
    "\n"
    "Times the step ONE on one GPU and the steps SEVERAL on 2, 4, 8, ... GPUs of the machine, in "
    "turn, for 16 heads of\n"
    "head_dim 128 in bf16, with and without a causal mask, for each length (16384 32768 65536), "
    "and writes\n"
    "DATA_FOLDER/<device>/NAME.csv. Variants are timed on all GPUs alone.\n";

enum { CHECKED_ROWS = 4, LONGEST = 1 << 21 };

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

// Says in the sentence of a rank that fails which contender it was.
static void name_work(contender *c, const attention_shape *shape, const char *what) {
  error_text *doing = &c->group.doing;
  fail(doing, "%s%s%s on %d GPU%s, %d rows%s, %s", c->step.name, c->variant ? " " : "",
       c->variant ? c->variant : "", c->gpus, c->gpus == 1 ? "" : "s", shape->seq_q,
       shape->causal ? ", causal" : "", what);
}

// A wrong result ends the program: its time would mean nothing.
static bool check_contender(contender *c, trial *trial, error_text *error) {
  c->group.shape = trial->shape;
  if (!c->checked) return true;
  check_result check;
  name_work(c, &trial->shape, "checked");
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
      name_work(c, shape, "timed");
      if (!group_time(&c->group, &c->step, number, 1, &c->milliseconds[round], error)) return false;
      if (!s->device.emulated) usleep(50000); // for the GPUs to cool
    }
  }
  return true;
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
        groups_write_row(s->lines, true, s, &s->contenders[0], &trial.shape, &conditions);
      groups_write_row(s->lines, false, s, &s->contenders[i], &trial.shape, &conditions);
      groups_print_row(s, &s->contenders[i], &trial.shape);
    }
  }
  s->failed = dealt && !good;
  for (int i = 0; i < s->count; i++) group_undeal(&s->contenders[i].group);
  trial_free(&trial);
  return good;
}

static bool run(session *s, int argc, char **argv, error_text *error) {
  static char *const usual[] = {"16384", "32768", "65536"};
  int next = 3;
  if (!device_open(&s->device, error) ||
      !device_ok(cudaGetDeviceCount(&s->gpus), "counting the GPUs", error))
    return false;
  if (s->gpus < 2)
    return fail(error, "this machine has one GPU, and several are to be timed: run it on another");
  s->rounds = s->device.emulated ? 1 : MOST_ROUNDS; // its times mean nothing
  if (!record_folder_make(argv[1], &s->device, &s->folder, error) || !connect_sizes(s, error) ||
      !groups_load_contenders(s, argc, argv, &next, error))
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

// Records what every warp of one multiprocessor does while a step runs, and what the recording costs.
#define _GNU_SOURCE
#include "csv/line.h"
#include "device/device.h"
#include "finish/finish.h"
#include "measure/measure.h"
#include "options/options.h"
#include "record/folder.h"
#include "record/record.h"
#include "reference/selection.h"
#include "result/result.h"
#include "shape/shape.h"
#include "step/step.h"
#include "tensors/tensors.h"
#include "timeline/stretch.h"
#include "trial/trial.h"
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: timeline DATA_FOLDER STEP.so STAMPED.so [-- OPTIONS]\n"
    "\n"
    "STAMPED.so is the same step, built with LAB_TIMELINE. Runs it once with stamps, and writes "
    "what the\n"
    "warps of one multiprocessor did during a few key blocks to "
    "DATA_FOLDER/<device>/timeline-NN-dimD.csv.\n"
    "Times both, with stamps of that multiprocessor and of all. OPTIONS are those of a step's "
    "program that choose shape,\n"
    "type, inputs and configuration; the shape is 1x16x4096x64 unless they say otherwise.\n";

enum {
  PLAIN,
  STAMPED,
  BOTH,
  KEY_BLOCKS = 4,        // in the file
  SLOTS = 1 << 17,       // of a warp, while one multiprocessor records: 2^19 clocks
  SLOTS_OF_ALL = 1 << 10 // while all do, for the time that stamps cost
};

typedef struct {
  device_info device;
  options options;
  attention_step steps[BOTH];
  trial trial;
  record_folder folder;
  record_conditions conditions;
  double milliseconds
      [3]; // without stamps, with those of one multiprocessor, of all; NaN without times
  statistics_ratio slower[2]; // with stamps of one multiprocessor, and of all, than without
  bool by_warpgroups;         // the step multiplies with wgmma
  timeline_sources sources;
  timeline_list list;
  timeline_stretch stretch;
  bool wrong; // a result of the step, or a launch that failed
  char name[256];
} session;

static bool read_options(session *s, int argc, char **argv, error_text *error) {
  static const option_id refused[] = {OPTION_Q,        OPTION_K,   OPTION_V,
                                      OPTION_OUT,      OPTION_LSE, OPTION_O_ALONE,
                                      OPTION_NO_CHECK, OPTION_CSV, OPTION_HELP};
  options *options = &s->options;
  if (!options_parse(argc, argv, options, error)) return false;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (options->given[refused[i]])
      return fail(error, "the timeline takes no %s: give it to the step's program",
                  option_table[refused[i]].name);
  }
  attention_shape *shape = &options->shape;
  if (shape->batch == 0) shape->batch = 1;
  if (shape->heads == 0) shape->heads = 16;
  if (shape->seq_q == 0) shape->seq_q = 4096;
  if (shape->seq_kv == 0) shape->seq_kv = shape->seq_q;
  return options_fit_device(options, s->device.emulated, error) &&
         options_fit_one_gpu(options, error);
}

static bool load_steps(session *s, char **paths, error_text *error) {
  for (int i = 0; i < BOTH; i++) {
    if (!step_load(paths[i], &s->steps[i], error)) return false;
  }
  return s->steps[STAMPED].timeline ||
         fail(error, "%s was built without stamps: make step14 timeline builds both",
              paths[STAMPED]);
}

static bool prepare(session *s, error_text *error) {
  enum { SEED = 1 }; // of the choice of rows
  const attention_shape shape = options_shape(&s->options, s->device.emulated);
  const tensor_files none = {0};
  if (!trial_create(&s->trial, &shape, error)) return false;
  for (int i = 0; i < BOTH; i++) {
    if (!step_configure(&s->steps[i], s->options.config, error) ||
        !trial_supported(&s->trial, &s->steps[i], error)) {
      return false;
    }
  }
  const attention_step *step = &s->steps[PLAIN];
  char path[512];
  snprintf(path, sizeof path, "steps/%s/attention.cu", step->name);
  snprintf(s->name, sizeof s->name, "timeline-%.*s-dim%d", (int)strcspn(step->name, "_"),
           step->name, shape.head_dim);
  return timeline_sources_read(step->source ? step->source : path, "common/kernel", &s->sources,
                               error) &&
         tensors_fill(&s->options, &none, &s->trial, error) && trial_upload(&s->trial, error) &&
         trial_reference_some(&s->trial, selection_quick_rows(&shape), SEED, error);
}

static bool record_into(session *s, const timeline_plan *rings, error_text *error) {
  return device_ok(s->steps[STAMPED].timeline(rings), "telling the kernel where to write", error);
}

static const timeline_plan nowhere;

static timeline_plan one_multiprocessor(const session *s) {
  return (timeline_plan){
      .multiprocessors = 1, .slots = SLOTS, .warps_between = s->by_warpgroups ? 3 : 0};
}

static bool has_products_of_warpgroups(const timeline_list *list) {
  for (size_t i = 0; i < list->count; i++)
    if (list->entries[i].kind == TIMELINE_PRODUCT) return true;
  return false;
}

static bool fail_check(session *s, const check_result *check, error_text *error) {
  s->wrong = true;
  return fail(error, "the step is wrong: %s", check->message.text);
}

// Runs the step with stamps on multiprocessor 0 twice, once to warm up and to see whether it has products of warp
// groups, and once to keep. Of four warps that multiply together, the first alone writes then.
static bool record_events(session *s, error_text *error) {
  check_result check;
  bool good = true;
  for (int run = 0; run < 2 && good; run++) {
    timeline_plan rings = one_multiprocessor(s);
    timeline_list_free(&s->list);
    good = timeline_rings_create(&rings, error) && record_into(s, &rings, error) &&
           trial_run(&s->trial, &s->steps[STAMPED], NULL, error) &&
           timeline_list_read(&rings, &s->list, error);
    s->by_warpgroups = has_products_of_warpgroups(&s->list);
    good = record_into(s, &nowhere, error) && good;
    timeline_rings_free(&rings);
  }
  if (good && !trial_check(&s->trial, &check)) return fail_check(s, &check, error);
  if (good && s->list.count > 0 &&
      strcmp(timeline_sources_find(&s->sources, s->list.entries[0].site).file, "?") == 0)
    return fail(error, "the stamps name a source that is neither the step's nor in common/kernel: "
                       "build the step again");
  if (good && s->list.count == 0)
    return fail(error, "no event was written: multiprocessor 0 had no block of this shape, or the "
                       "step calls none of the lab's wrappers");
  return good;
}

// Times both, while one multiprocessor records in the one with stamps, or all do.
static bool measure_cost(session *s, int which, error_text *error) {
  const timeline_plan plans[] = {one_multiprocessor(s),
                                 {.multiprocessors = (unsigned)s->device.multiprocessors,
                                  .slots = SLOTS_OF_ALL,
                                  .warps_between = s->by_warpgroups ? 3 : 0}};
  const bool warm = s->options.given[OPTION_WARM_L2];
  const measure_plan plan =
      measure_plan_make(s->options.rounds, s->options.warm_up, warm ? 0 : s->device.l2_bytes);
  timeline_plan rings = plans[which];
  measured_steps measured = {0};
  bool good = timeline_rings_create(&rings, error) && record_into(s, &rings, error) &&
              measure_steps(&s->trial, s->steps, BOTH, &plan, &measured, error);
  if (good) {
    s->milliseconds[0] = timing_figure(&measured.contenders[PLAIN]).times.median;
    s->milliseconds[1 + which] = timing_figure(&measured.contenders[STAMPED]).times.median;
    s->slower[which] = timing_ratio(&measured.contenders[STAMPED], &measured.contenders[PLAIN]);
  }
  for (size_t i = 0; i < BOTH && good; i++) {
    check_result check = {0};
    if (!measured_steps_check(&measured, i, &check)) good = fail_check(s, &check, error);
  }
  s->wrong |= measured.launch_failed;
  good = record_into(s, &nowhere, error) && good;
  measured_steps_free(&measured);
  timeline_rings_free(&rings);
  return good;
}

static const char *const kind_names[TIMELINE_KINDS] = {
    [TIMELINE_BARRIER_WAIT] = "barrier_wait",
    [TIMELINE_COPY] = "copy",
    [TIMELINE_COPY_WAIT] = "copy_wait",
    [TIMELINE_TURN_WAIT] = "turn_wait",
    [TIMELINE_BLOCK_WAIT] = "block_wait",
    [TIMELINE_SOFTMAX] = "softmax",
    [TIMELINE_OUTPUT] = "output",
    [TIMELINE_PRODUCT_WAIT] = "product_wait",
    [TIMELINE_PRODUCT_WAIT_1] = "product_wait_1",
    [TIMELINE_STORE] = "store",
    [TIMELINE_QUEUE_SCORES] = "queue_scores",
    [TIMELINE_QUEUE_OUTPUT] = "queue_output",
};

static void write_row(FILE *file, bool names, const session *s, const timeline_entry *entry,
                      unsigned key_block) {
  const timeline_where where = timeline_sources_find(&s->sources, entry->site);
  csv_line line = csv_line_begin(file, names);
  csv_line_text(&line, "step", s->steps[PLAIN].name);
  csv_line_text(&line, "configuration", s->steps[PLAIN].configuration);
  csv_line_text(&line, "device", s->device.name);
  result_add_shape(&line, &s->trial.shape);
  csv_line_value(&line, "plain_ms", 5, s->milliseconds[0]);
  csv_line_value(&line, "stamped_ms", 5, s->milliseconds[1]);
  csv_line_value(&line, "all_stamped_ms", 5, s->milliseconds[2]);
  csv_line_number(&line, "lost", true, "%llu", (unsigned long long)s->list.lost);
  csv_line_number(&line, "stretch", true, "%lld", (long long)(s->stretch.end - s->stretch.begin));
  csv_line_number(&line, "block", true, "%u", entry->block);
  csv_line_number(&line, "warp", true, "%u", entry->warp);
  csv_line_number(&line, "begin", true, "%lld", (long long)(entry->begin - s->stretch.begin));
  csv_line_number(&line, "end", true, "%lld", (long long)(entry->end - s->stretch.begin));
  csv_line_text(&line, "kind", kind_names[entry->kind]);
  csv_line_number(&line, "key_block", key_block > 0, "%u", key_block);
  csv_line_text(&line, "file", where.file);
  csv_line_number(&line, "line", true, "%u", where.line);
  csv_line_end(&line);
}

// Writes the events of the stretch, and of each warp the last ones before it and the first one behind it, which say what
// it does at the edges.
static void write_events(FILE *file, const session *s, const unsigned *numbers) {
  enum { BEFORE = 8 };
  const timeline_list *list = &s->list;
  write_row(file, true, s, &list->entries[0], 0);
  for (size_t i = 0; i < list->count; i++) {
    const timeline_entry *entry = &list->entries[i];
    bool near = false;
    for (size_t ahead = 1; ahead <= BEFORE && !near && i + ahead < list->count; ahead++)
      near = entry[ahead].place == entry->place && entry[ahead].end >= s->stretch.begin &&
             entry[ahead].begin < s->stretch.end;
    const bool behind = i > 0 && entry[-1].place == entry->place &&
                        entry[-1].end >= s->stretch.begin && entry[-1].begin < s->stretch.end;
    if (near || behind || (entry->end >= s->stretch.begin && entry->begin < s->stretch.end))
      write_row(file, false, s, entry, numbers[i]);
  }
}

static bool save(session *s, error_text *error) {
  unsigned *numbers = calloc(s->list.count, sizeof *numbers);
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file || !numbers) return fail(error, "not enough memory for the record");
  timeline_list_simplify(&s->list, &s->sources);
  timeline_number_key_blocks(&s->list, numbers);
  s->stretch = timeline_choose_stretch(&s->list, KEY_BLOCKS);
  record_write(file, &s->device, "before", &s->conditions.before);
  record_write(file, &s->device, "after", &s->conditions.after);
  if (s->steps[PLAIN].source)
    fprintf(file, "# source of step %s: %s\n", s->steps[PLAIN].name, s->steps[PLAIN].source);
  write_events(file, s, numbers);
  const bool good = (fclose(file) == 0 || fail(error, "not enough memory for the record")) &&
                    record_save(&s->folder, s->name, text, length, error);
  free(text);
  free(numbers);
  return good;
}

static void say_cost(const session *s) {
  if (s->list.lost > 0)
    printf(
        "%llu events were written over by later ones: the timeline has gaps, or lacks its begin\n",
        (unsigned long long)s->list.lost);
  static const char *const who[] = {"one multiprocessor", "all multiprocessors"};
  for (int i = 0; i < 2 && s->milliseconds[0] > 0; i++)
    printf("with stamps of %s: %.4g ms, %.1f %% more than without [%.1f, %.1f]\n", who[i],
           s->milliseconds[1 + i], 100 * (s->slower[i].ratio - 1),
           100 * (s->slower[i].interval.low - 1), 100 * (s->slower[i].interval.high - 1));
}

static bool run(session *s, const char *data_folder, error_text *error) {
  if (!record_folder_make(data_folder, &s->device, &s->folder, error) || !prepare(s, error))
    return false;
  s->conditions.before = record_read_state(&s->device);
  if (!record_events(s, error)) return false;
  for (int which = 0; which < 2; which++) {
    s->milliseconds[0] = s->milliseconds[1 + which] = 0.0 / 0.0;
    if (!s->options.given[OPTION_NO_TIME] && !measure_cost(s, which, error)) return false;
  }
  s->conditions.after = record_read_state(&s->device);
  if (!save(s, error)) return false;
  say_cost(s);
  return true;
}

static int record_timeline(int argc, char **argv) {
  static session s;
  error_text error;
  if (argc < 4 || (argc > 4 && strcmp(argv[4], "--") != 0)) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  record_begin();
  const bool good =
      device_open(&s.device, &error) &&
      (!s.device.emulated ||
       fail(&error, "the emulator has no clocks: make step14 timeline shows the order there")) &&
      load_steps(&s, argv + 2, &error) &&
      read_options(&s, argc > 4 ? argc - 4 : 1, argv + (argc > 4 ? 4 : 0), &error) &&
      run(&s, argv[1], &error);
  if (!good) fprintf(stderr, "error: %s\n", error.text);
  const bool wrong = s.wrong || s.trial.launch_failed;
  timeline_list_free(&s.list);
  timeline_sources_free(&s.sources);
  trial_free(&s.trial);
  for (int i = 0; i < BOTH; i++) step_unload(&s.steps[i]);
  return good ? EXIT_OK : wrong ? EXIT_CHECK_FAILED : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(record_timeline, argc, argv); }

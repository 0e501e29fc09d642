// Measures the highest rates and the latencies of this GPU, with kernels that do only one kind of work.
#define _GNU_SOURCE
#include "ceilings/ceiling.h"
#include "ceilings/report.h"
#include "finish/finish.h"
#include "record/folder.h"
#include "record/record.h"
#include <stdlib.h>

static const char usage[] =
    "usage: ceilings DATA_FOLDER NAME\n"
    "\n"
    "Measures the copy and read bandwidth of the GPU's memory, the read bandwidth of its L2 "
    "cache,\n"
    "the latencies of both, and the rates of the float32, exp2 and tensor-core units, checks that\n"
    "the kernels did their work, and writes DATA_FOLDER/<device>/NAME.csv and NAME-samples.csv.\n";

enum { MOST = 16 };

// All ceilings, in the order of the table.
typedef struct {
  device_info device;
  record_folder folder;
  size_t count; // that this GPU can run
  const ceiling *limits[MOST];
  ceiling_job jobs[MOST];
  timing_contender contenders[MOST];
  timing_burst bursts[MOST][TIMING_MOST_ROUNDS];
  ceiling_result results[MOST];
  bool wrong[MOST]; // the kernel did not do its work
} session;

static bool prepare(session *s, error_text *error) {
  for (size_t i = 0; i < ceiling_count && s->count < MOST; i++) {
    const ceiling *limit = &ceilings[i];
    if (limit->only_capability != 0 && limit->only_capability != s->device.compute_capability) {
      printf("%-18s  not measured: the instruction is one of compute capability %d.%d\n",
             limit->name, limit->only_capability / 10, limit->only_capability % 10);
      continue;
    }
    const size_t next = s->count++;
    s->limits[next] = limit;
    s->jobs[next] = (ceiling_job){.device = &s->device, .dtype = limit->dtype};
    if (!limit->prepare(&s->jobs[next], error)) return false;
    s->contenders[next] = (timing_contender){
        limit->name, limit->launch, &s->jobs[next], s->bursts[next], 0, NULL, false};
  }
  return true;
}

// Times all kernels in one run, in rounds, as steps are timed. So the ceilings were measured at the same
// clock as the steps, and in bursts of the same length.
static bool measure(session *s, error_text *error) {
  const timing_plan plan = timing_default_plan();
  record_conditions conditions = {.before = record_read_state(&s->device)};
  if (!timing_run(&plan, s->contenders, s->count, NULL, error)) return false;
  conditions.after = record_read_state(&s->device);
  conditions.origin = record_read_origin();
  for (size_t i = 0; i < s->count; i++) {
    const ceiling *limit = s->limits[i];
    error_text reason;
    s->results[i] = (ceiling_result){.name = limit->name,
                                     .unit = limit->unit,
                                     .unit_size = limit->unit_size,
                                     .kind = limit->kind,
                                     .work = s->jobs[i].work,
                                     .figures = timing_figure(&s->contenders[i]),
                                     .conditions = conditions};
    if (s->contenders[i].failure)
      return fail(error, "%s: %s", limit->name, s->contenders[i].failure);
    if (limit->verify(&s->jobs[i], &reason)) continue;
    s->wrong[i] = true; // how fast a wrong kernel is does not matter
    fprintf(stderr, "FAILED: %s: %s\n", limit->name, reason.text);
  }
  return true;
}

static void write_values(const session *s, FILE *file) {
  record_write(file, &s->device, "before", &s->results[0].conditions.before);
  ceiling_write_names(file);
  for (size_t i = 0; i < s->count; i++) {
    if (!s->wrong[i]) ceiling_write(file, &s->device, &s->results[i]);
  }
  record_write(file, &s->device, "after", &s->results[0].conditions.after);
}

static void write_samples(const session *s, FILE *file) {
  ceiling_write_sample_names(file);
  for (size_t i = 0; i < s->count; i++) {
    if (!s->wrong[i]) ceiling_write_samples(file, &s->device, &s->results[i], &s->contenders[i]);
  }
}

static bool save(const session *s, const char *name, void (*write)(const session *s, FILE *file),
                 error_text *error) {
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  if (!file) return fail(error, "not enough memory for the record");
  write(s, file);
  const bool written = fclose(file) == 0 || fail(error, "not enough memory for the record");
  const bool good = written && record_save(&s->folder, name, text, length, error);
  free(text);
  return good;
}

static void print(const session *s) {
  ceiling_print_head(stdout, &s->device);
  for (size_t i = 0; i < s->count; i++) {
    if (!s->wrong[i]) ceiling_print(stdout, &s->device, &s->results[i]);
  }
  putchar('\n');
}

static bool run(session *s, const char *data_folder, const char *name, error_text *error) {
  char samples_name[1024];
  snprintf(samples_name, sizeof samples_name, "%.1000s-samples", name);
  if (!device_open(&s->device, error) ||
      !record_folder_make(data_folder, &s->device, &s->folder, error) || !prepare(s, error) ||
      !measure(s, error)) {
    return false;
  }
  print(s);
  return save(s, samples_name, write_samples, error) && save(s, name, write_values, error);
}

static int measure_ceilings(int argc, char **argv) {
  if (argc != 3) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  static session s;
  error_text error;
  record_begin();
  const bool good = run(&s, argv[1], argv[2], &error);
  bool any_wrong = false;
  for (size_t i = 0; i < s.count; i++) {
    any_wrong |= s.wrong[i];
    job_free(&s.jobs[i]);
  }
  if (good) return any_wrong ? EXIT_CHECK_FAILED : EXIT_OK;
  fprintf(stderr, "error: %s\n", error.text);
  return EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(measure_ceilings, argc, argv); }

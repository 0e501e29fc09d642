// Measures what this GPU can do at most, with kernels that do one thing only.
#define _GNU_SOURCE
#include "ceilings/ceiling.h"
#include "ceilings/report.h"
#include "record/folder.h"
#include <stdlib.h>

static const char usage[] =
    "usage: ceilings DATA_FOLDER NAME\n"
    "\n"
    "Measures the GPU's copy bandwidth and the rates of its float32, exp2 and tensor-core units, "
    "checks\n"
    "that the kernels did their work, and writes DATA_FOLDER/<device>/NAME.csv.\n";

// As many as the lab takes of everything. A launch takes some milliseconds.
enum { SAMPLES = 100, WARM_UP = 10 };

static bool time_job(const ceiling *limit, ceiling_job *job, ceiling_result *result,
                     error_text *error) {
  double milliseconds[SAMPLES];
  timing_contender contender = {limit->name, limit->launch, job, milliseconds, 0};
  timing_plan plan = timing_default_plan();
  plan.samples = SAMPLES;
  plan.warm_up = WARM_UP;
  result->conditions.before = record_read_state(job->device);
  if (!timing_run(&plan, &contender, 1, NULL, error)) return false;
  result->conditions.after = record_read_state(job->device);
  result->conditions.origin = record_read_origin();
  result->times = statistics_summarise(milliseconds, contender.taken);
  return true;
}

// `wrong` tells a kernel that has not done its work from a machine that fails.
static bool measure(const ceiling *limit, const device_info *device, ceiling_result *result,
                    bool *wrong, error_text *error) {
  ceiling_job job = {.device = device, .dtype = limit->dtype};
  bool good = limit->prepare(&job, error) && time_job(limit, &job, result, error);
  if (good && !limit->verify(&job, error)) {
    *wrong = true;
    fprintf(stderr, "FAILED: %s: %s\n", limit->name, error->text);
  }
  result->name = limit->name;
  result->unit = limit->unit;
  result->unit_size = limit->unit_size;
  result->work = job.work;
  job_free(&job);
  return good;
}

// Measures all, prints a line for each as it comes, and writes the record's text.
static bool measure_all(const device_info *device, FILE *record, bool *any_wrong,
                        error_text *error) {
  record_state state = record_read_state(device);
  record_write(record, device, "before", &state);
  ceiling_write_names(record);
  ceiling_print_head(stdout, device);
  for (size_t i = 0; i < ceiling_count; i++) {
    const ceiling *limit = &ceilings[i];
    ceiling_result result = {0};
    bool wrong = false;
    if (limit->only_capability != 0 && limit->only_capability != device->compute_capability) {
      printf("%-18s  not measured: the instruction is one of compute capability %d.%d\n",
             limit->name, limit->only_capability / 10, limit->only_capability % 10);
      continue;
    }
    if (!measure(limit, device, &result, &wrong, error)) return false;
    *any_wrong |= wrong;
    if (wrong) continue; // how fast a wrong kernel is does not matter
    ceiling_write(record, device, &result);
    ceiling_print(stdout, device, &result);
    fflush(stdout);
  }
  state = record_read_state(device);
  record_write(record, device, "after", &state);
  putchar('\n');
  return true;
}

static bool run(const char *data_folder, const char *name, bool *any_wrong, error_text *error) {
  device_info device;
  record_folder folder;
  if (!device_open(&device, error) || !record_folder_make(data_folder, &device, &folder, error)) {
    return false;
  }
  char *text = NULL;
  size_t length = 0;
  FILE *record = open_memstream(&text, &length);
  if (!record) return fail(error, "not enough memory for the record");
  bool good = measure_all(&device, record, any_wrong, error);
  if (fclose(record) != 0 && good) good = fail(error, "not enough memory for the record");
  good = good && record_save(&folder, name, text, length, error);
  free(text);
  return good;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs(usage, stderr);
    return EXIT_BAD_INPUT;
  }
  error_text error;
  bool any_wrong = false;
  if (!run(argv[1], argv[2], &any_wrong, &error)) {
    fprintf(stderr, "error: %s\n", error.text);
    return EXIT_BAD_INPUT;
  }
  return any_wrong ? EXIT_CHECK_FAILED : EXIT_OK;
}

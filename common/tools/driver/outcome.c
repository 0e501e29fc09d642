#include "driver/outcome.h"

void outcome_print(report *report, const attention_step *step, const device_info *device,
                   const options *options, const trial *trial) {
  report->step = step->name;
  report->summary = step->summary;
  report->source = step->source;
  report->device = device->name;
  report->emulated = device->emulated;
  report->o_alone = trial->o_alone;
  report->shape = trial->shape;
  report->q = options->q;
  report->k = options->k;
  report->v = options->v;
  report->inputs = options->inputs;
  report->seed = options->seed;
  if (options->given[OPTION_CSV]) {
    if (report->source)
      fprintf(stderr, "note: the step's source is %s\n", error_printable(report->source).text);
    report_print_csv(stdout, report);
  } else {
    report_print(stdout, report);
  }
}

static int say_wrong_result(const report *report, const options *options) {
  fprintf(stderr, "error: %s\n", report->check.message.text);
  if (options->out || options->lse) {
    fprintf(stderr, "note: nothing was written to %s%s%s, because the result is wrong\n",
            error_printable(options->out ? options->out : "").text,
            options->out && options->lse ? " and " : "",
            error_printable(options->lse ? options->lse : "").text);
  }
  return EXIT_CHECK_FAILED;
}

int outcome_status(const report *report, const options *options, const error_text *error,
                   int status) {
  if (!error && report->verdict == CHECK_ILL_CONDITIONED)
    fprintf(stderr, "note: %s\n", report->check.message.text);
  if (error) fprintf(stderr, "error: %s\n", error->text);
  const uint64_t findings = device_findings();
  if (findings > 0) {
    fprintf(stderr, "error: the sanitizer has reported %llu fault%s, see above\n",
            (unsigned long long)findings, findings == 1 ? "" : "s");
    return EXIT_CHECK_FAILED;
  }
  if (error) return status;
  return report->verdict == CHECK_FAILED ? say_wrong_result(report, options) : EXIT_OK;
}

#include "driver/report.h"

#include "shape/shape.h"
#include <inttypes.h>
#include <math.h>

static const double lse_bound = CHECK_LSE_TOLERANCE; // that of check_outputs

// Writes a number without an exponent, and with at least as many digits as asked for.
typedef struct {
  char text[64];
} digits;

static digits significant(double value, int count) {
  const int before_point = value > 0 ? (int)floor(log10(value)) + 1 : 1;
  const int after_point = count > before_point ? count - before_point : 0;
  digits out;
  snprintf(out.text, sizeof out.text, "%.*f", after_point, value);
  return out;
}

// "1 block", "2 blocks"
static void print_count(FILE *out, const char *before, uint64_t count, const char *what,
                        const char *plural) {
  fprintf(out, "%s%" PRIu64 " %s%s", before, count, what, count == 1 ? "" : plural);
}

static void print_shape(FILE *out, const attention_shape *shape) {
  fprintf(out, "shape      batch %d, heads %d, ", shape->batch, shape->heads);
  if (shape->kv_heads != shape->heads) fprintf(out, "kv_heads %d, ", shape->kv_heads);
  if (shape->seq_kv == shape->seq_q) {
    fprintf(out, "seq %d, ", shape->seq_q);
  } else {
    fprintf(out, "seq_q %d, seq_kv %d, ", shape->seq_q, shape->seq_kv);
  }
  fprintf(out, "dim %d, %s, %sscale %g\n", shape->head_dim, shape_dtype_name(shape->dtype),
          shape->causal ? "causal, " : "", (double)shape->scale);
}

static void print_check(FILE *out, const report *report) {
  if (report->verdict == CHECK_SKIPPED) {
    fprintf(out, "check      skipped\n");
    return;
  }
  const check_result *check = &report->check;
  if (report->verdict == CHECK_FAILED && check->o_bad == 0 && check->lse_bad == 0) {
    fprintf(out, "check      FAILED: %s\n", check->message.text); // it is not the numbers
    return;
  }
  fprintf(out, "check      %s: largest error of O %.2g, allowed %.2g; ",
          check_verdict_name(report->verdict), check->o_error, check->o_bound);
  if (report->o_alone)
    fprintf(out, "lse was not asked for\n");
  else
    fprintf(out, "of lse %.2g, allowed %.2g\n", check->lse_error, lse_bound);
}

static void print_times(FILE *out, const report *report) {
  const timing_figures *figures = &report->figures;
  const statistics_summary *times = &figures->times;
  fprintf(out, "time       median %s ms (", significant(times->median, 4).text);
  if (isfinite(times->low)) {
    fprintf(out, "95 %% interval %s to %s; ", significant(times->low, 4).text,
            significant(times->high, 4).text);
  }
  fprintf(out, "5th to 95th percentile %s to %s; ", significant(times->p5, 4).text,
          significant(times->p95, 4).text);
  print_count(out, "", times->samples, "launch", "es");
  print_count(out, " in ", times->runs, "run", "s");
  fprintf(out, ")\nspeed      %s TFLOP/s\n",
          significant(result_tflops(&report->shape, times), 3).text);
  if (figures->graph.runs > 0) {
    fprintf(out, "graph      %s ms a launch, replayed\n",
            significant(figures->graph.median, 4).text);
  }
  if (times->median < RESULT_SHORT_MS && isfinite(report->floor.empty_kernel)) {
    fprintf(out, "floor      %s ms for an empty kernel, %s ms for nothing\n",
            significant(report->floor.empty_kernel, 4).text,
            significant(report->floor.nothing, 4).text);
  }
  if (figures->throttled_rounds > 0) {
    fprintf(out, "throttled  in %zu of %zu runs: power or heat held the GPU back\n",
            figures->throttled_rounds, times->runs);
  }
}

static void print_counts(FILE *out, const device_counts *counts) {
  print_count(out, "counts     ", counts->launches, "launch", "es");
  if (counts->early_launches > 0) {
    print_count(out, ", ", counts->early_launches, "early launch", "es");
  }
  print_count(out, ", ", counts->blocks, "block", "s");
  print_count(out, ", ", counts->threads, "thread", "s");
  print_count(out, ", ", counts->block_barriers, "block barrier", "s");
  print_count(out, ", ", counts->warp_collectives, "warp collective", "s");
  if (counts->tensor_core_operations > 0) {
    print_count(out, ", ", counts->tensor_core_operations, "tensor-core product", "s");
  }
  if (counts->async_copy_bytes > 0) {
    print_count(out, ", ", counts->async_copy_bytes, "byte", "s");
    fputs(" by cp.async", out);
  }
  if (counts->products_over_copies > 0) {
    print_count(out, ", ", counts->products_over_copies, "product", "s");
    fputs(" over copies", out);
  }
  if (counts->products_in_the_first_half > 0) {
    print_count(out, ", ", counts->products_in_the_first_half, "product", "s");
    fputs(" in the first half of the blocks", out);
  }
  if (counts->collectives_under_products > 0) {
    print_count(out, ", ", counts->collectives_under_products, "warp collective", "s");
    fputs(" under products", out);
  }
  if (counts->named_barriers > 0) {
    print_count(out, ", ", counts->named_barriers, "named barrier", "s");
  }
  if (counts->product_groups_in_turns > 0) {
    print_count(out, ", ", counts->product_groups_in_turns, "group", "s");
    fputs(" of products in turns", out);
  }
  if (counts->repeated_arrivals > 0) {
    print_count(out, ", ", counts->repeated_arrivals, "repeated arrival", "s");
  }
  if (counts->copies_behind_kernels > 0) {
    fprintf(out, ", %" PRIu64 " %s behind kernels", counts->copies_behind_kernels,
            counts->copies_behind_kernels == 1 ? "copy" : "copies");
  }
  if (counts->grid[0] > 0) {
    fprintf(out, ", grid %u x %u x %u", counts->grid[0], counts->grid[1], counts->grid[2]);
  }
  fputc('\n', out);
}

void report_print(FILE *out, const report *report) {
  fprintf(out, "step       %s: %s\n", report->step, report->summary);
  if (report->source) fprintf(out, "source     %s\n", error_printable(report->source).text);
  print_shape(out, &report->shape);
  if (report->q) {
    fprintf(out, "inputs     %s, %s, %s\n", error_printable(report->q).text,
            error_printable(report->k).text, error_printable(report->v).text);
  } else {
    fprintf(out, "inputs     %s, seed %" PRIu64 "\n", inputs_name(report->inputs), report->seed);
  }
  if (report->gpus > 0) fprintf(out, "gpus       %d\n", report->gpus);
  fprintf(out, "device     %s\n", report->device);
  print_check(out, report);
  print_count(out, "workspace  ", report->workspace_bytes, "byte", "s");
  fputc('\n', out);
  if (report->figures.times.samples > 0) {
    print_times(out, report);
  } else if (report->untimed) {
    fprintf(out, "time       not taken: %s\n", report->untimed);
  } else if (report->verdict == CHECK_FAILED && !report->emulated) {
    fprintf(out, "time       not taken: the result is wrong\n");
  }
  if (report->emulated) print_counts(out, &report->counts);
}

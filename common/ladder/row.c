#include "ladder/row.h"

#include "shape/shape.h"
#include <string.h>

// Such as "8.59 GB"; powers of ten, as memory bandwidths are given.
static const char *bytes_text(size_t bytes, char text[16]) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = 0;
  for (; value >= 1000 && unit < 4; unit++) value /= 1000;
  snprintf(text, 16, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text;
}

// What tells the row from the others: its configuration in a sweep, else what the step adds.
static const char *row_text(const ladder_row *row) {
  return row->step->configuration ? row->step->configuration : row->step->summary;
}

static double speed_up(const ladder_row *base, const ladder_row *row) {
  return base->samples && row->samples ? base->median_ms / row->median_ms : 0;
}

void row_print_table(FILE *file, const device_info *device, const attention_shape *shape,
                     const ladder_row *rows, size_t count) {
  int summary = 4; // the widest: the column of what a step adds
  for (size_t i = 0; i < count; i++) {
    const int length = (int)strlen(row_text(&rows[i]));
    if (length > summary) summary = length;
  }
  fprintf(file, "\n%s on %s\n\n", shape_describe(shape).text, device->name);
  fprintf(file, "%-18s  %-*s  %-6s  %11s  %9s", "step", summary, "adds", "check", "error/bound",
          "workspace");
  if (device->emulated) {
    fprintf(file, "  %8s  %6s  %8s  %8s  %9s  %8s  %11s\n", "launches", "blocks", "threads",
            "barriers", "warp ops", "tensor", "async bytes");
  } else {
    fprintf(file, "  %9s  %8s  %9s  %9s\n", "median ms", "TFLOP/s",
            rows[0].step->configuration ? "x first" : "x step 01", "x before");
  }
  for (size_t i = 0; i < count; i++) {
    const ladder_row *row = &rows[i];
    char bytes[16];
    fprintf(file, "%-18s  %-*s  ", row->step->name, summary, row_text(row));
    if (row->unsupported) {
      fprintf(file, "skipped: %s\n", row->unsupported);
      continue;
    }
    fprintf(file, "%-6s  %11.3f  %9s", row->right ? "ok" : "FAILED",
            row->check.o_error / row->check.o_bound, bytes_text(row->workspace_bytes, bytes));
    if (device->emulated) {
      fprintf(file, "  %8llu  %6llu  %8llu  %8llu  %9llu  %8llu  %11llu\n",
              (unsigned long long)row->counts.launches, (unsigned long long)row->counts.blocks,
              (unsigned long long)row->counts.threads,
              (unsigned long long)row->counts.block_barriers,
              (unsigned long long)row->counts.warp_collectives,
              (unsigned long long)row->counts.tensor_core_operations,
              (unsigned long long)row->counts.async_copy_bytes);
    } else if (row->samples == 0) {
      fprintf(file, "  %9s\n", "not timed");
    } else {
      fprintf(file, "  %9.3f  %8.2f", row->median_ms, row->tflops);
      if (speed_up(&rows[0], row) > 0) fprintf(file, "  %9.2f", speed_up(&rows[0], row));
      if (i > 0 && speed_up(&rows[i - 1], row) > 0)
        fprintf(file, "  %9.2f", speed_up(&rows[i - 1], row));
      fputc('\n', file);
    }
  }
  fputc('\n', file);
}

void row_write_csv(FILE *file, const device_info *device, const attention_shape *shape,
                   const ladder_row *rows, size_t count) {
  fputs("step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,o_"
        "error,o_bound,"
        "lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,tflops,launches,blocks,"
        "threads,block_barriers,warp_collectives,tensor_core_operations,async_copy_bytes\n",
        file);
  for (size_t i = 0; i < count; i++) {
    const ladder_row *row = &rows[i];
    fprintf(file, "%s,%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,", row->step->name,
            row->step->configuration ? row->step->configuration : "", device->name,
            shape_dtype_name(shape->dtype), shape->batch, shape->heads, shape->kv_heads,
            shape->seq_q, shape->seq_kv, shape->head_dim, shape->causal);
    if (row->unsupported) {
      fputs("skipped,,,,,,,,,,,,,,,,\n", file);
      continue;
    }
    fprintf(file, "%s,%.6g,%.6g,%.6g,%zu,", row->right ? "ok" : "FAILED", row->check.o_error,
            row->check.o_bound, row->check.lse_error, row->workspace_bytes);
    if (row->samples > 0) {
      fprintf(file, "%zu,%.6g,%.6g,%.6g,%.6g,", row->samples, row->median_ms, row->low_ms,
              row->high_ms, row->tflops);
    } else {
      fputs(",,,,,", file);
    }
    if (device->emulated) {
      fprintf(file, "%llu,%llu,%llu,%llu,%llu,%llu,%llu\n",
              (unsigned long long)row->counts.launches, (unsigned long long)row->counts.blocks,
              (unsigned long long)row->counts.threads,
              (unsigned long long)row->counts.block_barriers,
              (unsigned long long)row->counts.warp_collectives,
              (unsigned long long)row->counts.tensor_core_operations,
              (unsigned long long)row->counts.async_copy_bytes);
    } else {
      fputs(",,,,,,\n", file);
    }
  }
}

#include "ceilings/report.h"

#include "result/result.h"
#include <math.h>

double ceiling_value(const ceiling_result *result, double milliseconds) {
  const double seconds = milliseconds * 1e-3;
  const double value =
      result->kind == CEILING_LATENCY ? seconds / result->work : result->work / seconds;
  return value / result->unit_size;
}

// The ends of the interval: the longest time is the lowest rate, and the highest latency.
static double lowest_value(const ceiling_result *result) {
  const statistics_summary *times = &result->figures.times;
  return ceiling_value(result, result->kind == CEILING_LATENCY ? times->low : times->high);
}

static double highest_value(const ceiling_result *result) {
  const statistics_summary *times = &result->figures.times;
  return ceiling_value(result, result->kind == CEILING_LATENCY ? times->high : times->low);
}

static void write_line(FILE *file, bool names, const device_info *device,
                       const ceiling_result *result) {
  const vendor_values *vendor = vendor_find(device->name);
  const double vendors = vendor_value(vendor, result->name);
  const statistics_summary *times = &result->figures.times;
  csv_line line = csv_line_begin(file, names);
  csv_line_text(&line, "name", result->name);
  csv_line_text(&line, "unit", result->unit);
  csv_line_value(&line, "value", 6, ceiling_value(result, times->median));
  csv_line_value(&line, "ci_low", 6, lowest_value(result));
  csv_line_value(&line, "ci_high", 6, highest_value(result));
  csv_line_number(&line, "samples", true, "%zu", times->samples);
  csv_line_value(&line, "vendor_value", 6, vendors);
  csv_line_text(&line, "vendor_source", isnan(vendors) ? NULL : vendor->source);
  csv_line_text(&line, "device", device->name);
  csv_line_value(&line, "work", 17, result->work);
  csv_line_value(&line, "median_ms", 6, times->median);
  result_add_figures(&line, true, &result->figures, NULL);
  record_add_columns(&line, &result->conditions);
  csv_line_end(&line);
}

void ceiling_write_names(FILE *file) {
  static const device_info no_device;
  static const ceiling_result no_result = {.name = "", .figures = {.times = {.median = 1}}};
  write_line(file, true, &no_device, &no_result);
}

void ceiling_write(FILE *file, const device_info *device, const ceiling_result *result) {
  write_line(file, false, device, result);
}

static void write_sample_line(FILE *file, bool names, const device_info *device,
                              const ceiling_result *result, size_t round,
                              const timing_burst *burst) {
  csv_line line = csv_line_begin(file, names);
  csv_line_text(&line, "name", result->name);
  csv_line_text(&line, "device", device->name);
  csv_line_text(&line, "commit", result->conditions.origin.commit);
  csv_line_text(&line, "date", result->conditions.origin.date);
  result_add_burst(&line, round, burst);
  csv_line_end(&line);
}

void ceiling_write_sample_names(FILE *file) {
  static const device_info no_device;
  static const ceiling_result no_result;
  static const timing_burst no_burst;
  write_sample_line(file, true, &no_device, &no_result, 0, &no_burst);
}

void ceiling_write_samples(FILE *file, const device_info *device, const ceiling_result *result,
                           const timing_contender *contender) {
  for (size_t i = 0; i < contender->rounds; i++) {
    write_sample_line(file, false, device, result, i, &contender->bursts[i]);
  }
}

void ceiling_print_head(FILE *file, const device_info *device) {
  fprintf(file, "\n%s\n\n%-18s  %10s  %-8s  %22s  %12s\n", device->name, "ceiling", "median",
          "unit", "95 % interval", "of vendor's");
}

void ceiling_print(FILE *file, const device_info *device, const ceiling_result *result) {
  const statistics_summary *times = &result->figures.times;
  const double value = ceiling_value(result, times->median);
  const double vendors = vendor_value(vendor_find(device->name), result->name);
  fprintf(file, "%-18s  %10.1f  %-8s  %10.1f to %8.1f", result->name, value, result->unit,
          lowest_value(result), highest_value(result));
  if (!isnan(vendors)) fprintf(file, "  %10.0f %%", 100 * value / vendors);
  if (result->figures.throttled_rounds > 0) {
    fprintf(file, "  throttled in %zu of %zu runs", result->figures.throttled_rounds, times->runs);
  }
  fputc('\n', file);
}

#include "timing/figures.h"

#include <math.h>
#include <string.h>

// Writes the bursts' medians into `medians`.
static void list_medians(const timing_contender *contender, double *medians) {
  for (size_t i = 0; i < contender->rounds; i++) medians[i] = contender->bursts[i].median;
}

static statistics_summary summarise_times(const timing_contender *contender) {
  double medians[TIMING_MOST_ROUNDS];
  double launches[TIMING_MOST_ROUNDS * TIMING_MOST_LAUNCHES];
  size_t count = 0;
  list_medians(contender, medians);
  for (size_t i = 0; i < contender->rounds; i++) {
    const timing_burst *burst = &contender->bursts[i];
    memcpy(launches + count, burst->milliseconds, burst->launches * sizeof *launches);
    count += burst->launches;
  }
  return statistics_summarise(medians, contender->rounds, launches, count);
}

// Summarises the numbers that are known.
static statistics_summary summarise_known(const double *values, size_t count) {
  double known[TIMING_MOST_ROUNDS];
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (!isnan(values[i])) known[found++] = values[i];
  }
  return statistics_summarise(known, found, known, found);
}

timing_figures timing_figure(const timing_contender *contender) {
  double graph[TIMING_MOST_ROUNDS], clock[TIMING_MOST_ROUNDS], power[TIMING_MOST_ROUNDS];
  timing_figures figures = {.times = summarise_times(contender)};
  for (size_t i = 0; i < contender->rounds; i++) {
    const timing_burst *burst = &contender->bursts[i];
    graph[i] = burst->graph_ms;
    clock[i] = burst->state.sm_clock_mhz;
    power[i] = burst->state.power_w;
    figures.throttled_rounds += burst->throttled;
  }
  figures.graph = summarise_known(graph, contender->rounds);
  figures.sm_clock_mhz = summarise_known(clock, contender->rounds).median;
  figures.power_w = summarise_known(power, contender->rounds).median;
  return figures;
}

bool timing_throttled(const timing_figures *figures) {
  return figures->throttled_rounds > 0 && 2 * figures->throttled_rounds >= figures->times.runs;
}

statistics_ratio timing_ratio(const timing_contender *a, const timing_contender *b) {
  double a_medians[TIMING_MOST_ROUNDS];
  double b_medians[TIMING_MOST_ROUNDS];
  list_medians(a, a_medians);
  list_medians(b, b_medians);
  return statistics_paired_ratio(a_medians, b_medians,
                                 a->rounds < b->rounds ? a->rounds : b->rounds);
}

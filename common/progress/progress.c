#define _GNU_SOURCE
#include "progress/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

progress progress_start(const char *label, size_t total) {
  return (progress){.label = label, .total = total, .started = now()};
}

void progress_show(progress *bar, size_t done) {
  const double time = now();
  if (time - bar->started < 1.0 || time - bar->last_draw < 0.2 || !isatty(STDERR_FILENO)) return;
  const double share = bar->total ? (double)done / (double)bar->total : 1.0;
  const double left = share > 0 ? (time - bar->started) * (1.0 - share) / share : 0.0;
  fprintf(stderr, "\r%s: %3.0f %%, about %.0f s left\033[K", bar->label, 100.0 * share, left);
  fflush(stderr);
  bar->last_draw = time;
}

void progress_end(progress *bar) {
  if (bar->last_draw > 0) fputs("\r\033[K", stderr);
}

// A line that shows how far long work has come. Drawn only on a terminal, and only after a second,
// so that short work stays quiet and a log file stays clean.
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

typedef struct {
  const char *label;
  size_t total;
  double started;   // seconds
  double last_draw; // seconds; 0 before the first
} progress;

progress progress_start(const char *label, size_t total);

// Says that `done` of the total is done. Call it as often as you like, from one thread.
void progress_show(progress *bar, size_t done);

// Wipes the line.
void progress_end(progress *bar);

#endif

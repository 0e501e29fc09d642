// A line that shows how much of a long task is done. It is drawn only on a terminal, and only after
// a second, so that short work stays quiet and a log file stays clean.
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

// Shows that `done` of the total is done. Call it as often as you like, from one thread.
void progress_show(progress *bar, size_t done);

// Removes the line from the terminal.
void progress_end(progress *bar);

#endif

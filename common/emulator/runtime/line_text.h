// A line of a report that is written in parts, and the threads of a block in words.
#ifndef LINE_TEXT_H
#define LINE_TEXT_H

#include "block.h"

typedef struct {
  char text[512];
  size_t length;
} line_text;

// Cuts off what has no room.
__attribute__((format(printf, 2, 3))) void line_append(line_text *line, const char *format, ...);

// "threads 0-31, 64-95 (warps 0-2)": the threads that `chosen` marks, one entry for each of the block. Returns how
// many.
unsigned line_append_threads(line_text *line, const worker *worker, const bool *chosen);

#endif

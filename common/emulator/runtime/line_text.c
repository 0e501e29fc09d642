#define _GNU_SOURCE
#include "line_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void line_append(line_text *line, const char *format, ...) {
  const size_t room = sizeof line->text - line->length;
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(line->text + line->length, room, format, arguments);
  va_end(arguments);
  line->length += (size_t)written < room ? (size_t)written : room - 1;
}

static void append_range(line_text *line, unsigned first, unsigned last) {
  line_append(line, first == last ? "%u" : "%u-%u", first, last);
}

unsigned line_append_threads(line_text *line, const worker *worker, const bool *chosen) {
  enum { RANGES_SHOWN = 8 };
  unsigned ranges = 0, hidden = 0, lowest = 0, highest = 0, total = 0;
  const size_t start = line->length;
  line_append(line, "threads ");
  for (unsigned i = 0; i < worker->thread_count; i++) {
    if (!chosen[i]) continue;
    unsigned last = i;
    while (last + 1 < worker->thread_count && chosen[last + 1]) last++;
    if (ranges++ < RANGES_SHOWN) {
      if (ranges > 1) line_append(line, ", ");
      append_range(line, i, last);
    } else {
      hidden += last - i + 1;
    }
    if (total == 0) lowest = i;
    total += last - i + 1;
    highest = last;
    i = last;
  }
  if (hidden > 0) line_append(line, " and %u more", hidden);
  const unsigned first_warp = lowest / GPU_WARP_LANES, last_warp = highest / GPU_WARP_LANES;
  line_append(line, first_warp == last_warp ? " (warp " : " (warps ");
  append_range(line, first_warp, last_warp);
  line_append(line, ")");
  if (total == 1) {
    char *s = line->text + start + strlen("thread");
    memmove(s, s + 1, strlen(s));
    line->length--;
  }
  return total;
}

#include "check/pattern.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pattern_create(pattern *pattern, size_t heads, size_t rows, size_t columns) {
  const size_t counts[3] = {heads, rows, columns};
  bool enough = true;
  for (int i = 0; i < 3; i++) {
    pattern->counts[i] = counts[i];
    pattern->bad[i] = calloc(counts[i] + 1, sizeof(size_t));
    enough = enough && pattern->bad[i];
  }
  pattern->total = pattern->unwritten = pattern->not_finite = 0;
  memset(pattern->computed_from, 0, sizeof pattern->computed_from);
  if (!enough) pattern_free(pattern);
  return enough;
}

void pattern_free(pattern *pattern) {
  for (int i = 0; i < 3; i++) {
    free(pattern->bad[i]);
    pattern->bad[i] = NULL;
  }
}

void pattern_add(pattern *pattern, size_t head, size_t row, size_t column) {
  pattern->total++;
  pattern->bad[0][head]++;
  pattern->bad[1][row]++;
  if (pattern->counts[2] > 0) pattern->bad[2][column]++;
}

void pattern_add_not_finite(pattern *pattern, bool written, poison origin) {
  pattern->not_finite++;
  if (!written) {
    pattern->unwritten++;
  } else {
    pattern->computed_from[origin]++;
  }
}

// Whether the bad ones among the indices 0 .. count - 1 are those that leave one of *first to *last when they are divided
// by `period`.
static bool find_run(const size_t *bad, size_t count, size_t period, size_t *first, size_t *last) {
  *first = *last = period;
  for (size_t i = 0; i < period; i++) {
    if (!bad[i]) continue;
    if (*first == period) *first = i;
    *last = i;
  }
  for (size_t i = 0; i < count; i++)
    if ((bad[i] != 0) != (i % period >= *first && i % period <= *last)) return false;
  return true;
}

// Describes in words which of the indices 0 .. count - 1 hold a bad element.
static int describe_indices(const size_t *bad, size_t count, const char *one, const char *many,
                            char *text, size_t size) {
  size_t hit = 0;
  size_t first = count;
  size_t last = 0;
  for (size_t i = 0; i < count; i++) {
    if (!bad[i]) continue;
    hit++;
    if (first == count) first = i;
    last = i;
  }
  if (hit == count) {
    return snprintf(text, size, count == 1 ? "the only %s" : "every %s", one);
  }
  if (hit == 1) return snprintf(text, size, "%s %zu", one, first);
  if (hit == last - first + 1) {
    if (last == count - 1) return snprintf(text, size, "the last %zu %s", hit, many);
    return snprintf(text, size, "%s %zu to %zu", many, first, last);
  }
  for (size_t step = 2; step <= 64; step *= 2) {
    bool regular = true;
    for (size_t i = 0; i < count && regular; i++) regular = !bad[i] == (i % step != first % step);
    if (regular) {
      return snprintf(text, size, "one %s in %zu (%zu, %zu, ...)", one, step, first, first + step);
    }
  }
  for (size_t period = 4; period <= 128 && period < count; period *= 2) {
    size_t begin, end;
    if (find_run(bad, count, period, &begin, &end))
      return snprintf(text, size, "%s %zu to %zu of every %zu", many, begin, end, period);
  }
  return snprintf(text, size, "%zu of %zu %s, %zu to %zu", hit, count, many, first, last);
}

// Appends to a text of `size` bytes, and cuts what has no room, so that the next call begins inside of it as well.
__attribute__((format(printf, 4, 5))) static void append(char *text, size_t size, size_t *length,
                                                         const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int more = vsnprintf(text + *length, size - *length, format, arguments);
  va_end(arguments);
  const size_t room = size - *length - 1;
  if (more > 0) *length += (size_t)more < room ? (size_t)more : room;
}

size_t pattern_describe(const pattern *pattern, char *text, size_t size) {
  static const char *const one[3] = {"head", "row", "column"};
  static const char *const many[3] = {"heads", "rows", "columns"};
  size_t length = 0;
  for (int i = 0; i < 3 && pattern->counts[i] > 0; i++) {
    char indices[128];
    describe_indices(pattern->bad[i], pattern->counts[i], one[i], many[i], indices, sizeof indices);
    append(text, size, &length, "%s%s", i > 0 ? "; " : "", indices);
  }
  if (pattern->unwritten > 0)
    append(text, size, &length, "; %zu were never written, or are NaN with the same bits",
           pattern->unwritten);
  size_t explained = pattern->unwritten;
  for (poison kind = POISON_NONE + 1; kind < POISON_KINDS; kind++) {
    if (pattern->computed_from[kind] == 0) continue;
    explained += pattern->computed_from[kind];
    append(text, size, &length, "; %zu are NaN, computed from %s", pattern->computed_from[kind],
           poison_origin(kind));
  }
  if (pattern->not_finite > explained) {
    append(text, size, &length, "; %zu are NaN or infinite", pattern->not_finite - explained);
  }
  return length;
}

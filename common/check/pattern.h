// Finds out what the bad elements have in common. They are counted along each dimension, and the
// pattern is described in words.
#ifndef PATTERN_H
#define PATTERN_H

#include "numeric/poison.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  size_t counts[3]; // heads (batch * heads of them), rows, columns (0 for a tensor without)
  size_t *bad[3];   // bad elements in each head, row and column
  size_t total;     // bad elements
  size_t unwritten; // of these, how many still hold the poison
  size_t not_finite;
  size_t computed_from[POISON_KINDS]; // NaNs, by what they were computed from
} pattern;

// Returns false when memory runs out.
bool pattern_create(pattern *pattern, size_t heads, size_t rows, size_t columns);
void pattern_free(pattern *pattern);
void pattern_add(pattern *pattern, size_t head, size_t row, size_t column);

// Says of a bad element that is no finite number whether it was ever written, and else where its NaN comes from.
void pattern_add_not_finite(pattern *pattern, bool written, poison origin);

// Describes the pattern, such as "every head; rows 64 to 127; one column in 8 (3, 11, ...)", or "rows 8 to 15 of every
// 16". The text is cut where `size` bytes end. Returns the length.
size_t pattern_describe(const pattern *pattern, char *text, size_t size);

#endif

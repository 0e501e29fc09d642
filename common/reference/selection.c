#include "reference/selection.h"

#include "numeric/random.h"
#include "shape/shape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16 }; // rows: the tensor cores' tile, of which every larger tile is made

// Returns the first row at or after `row` that is not taken; the search continues from row 0 after
// the last row.
static size_t next_free(const bool *taken, size_t rows, size_t row) {
  while (taken[row]) row = (row + 1) % rows;
  return row;
}

// Marks `wanted` rows; there are at least that many.
static void select_rows(bool *taken, size_t rows, size_t wanted, uint64_t *random) {
  const size_t always[] = {0, rows - 1, 1 % rows};
  memset(taken, false, rows * sizeof *taken);
  size_t done = 0;
  for (size_t i = 0; i < sizeof always / sizeof always[0] && done < wanted; i++) {
    done += !taken[always[i]];
    taken[always[i]] = true;
  }
  for (; done < wanted; done++) {
    const uint64_t bits = random_next(random);
    size_t row = (size_t)(bits >> 2) % rows;
    if (bits & 1) row = row / TILE * TILE + (bits & 2 ? TILE - 1 : 0);
    taken[next_free(taken, rows, row < rows ? row : rows - 1)] = true;
  }
}

size_t selection_quick_rows(const attention_shape *shape) {
  const double quick_pairs = 0x1p26, most_pairs = 0x1p29;
  const double few_rows = 8;
  const double heads = (double)shape->batch * shape->heads;
  const double quick = quick_pairs / (heads * shape->seq_kv);
  // Of many keys and heads one row of each head would be left, and a fault in the others would not be found.
  const double least = fmin(few_rows, most_pairs / (heads * shape->seq_kv));
  const double rows = fmax(quick, least);
  if (rows >= shape->seq_q) return (size_t)shape->seq_q;
  return rows < 1 ? 1 : (size_t)rows;
}

bool selection_create(const attention_shape *shape, size_t per_head, uint64_t seed,
                      row_selection *selection, error_text *error) {
  const size_t rows = (size_t)shape->seq_q;
  const size_t heads = (size_t)shape->batch * (size_t)shape->heads;
  *selection = (row_selection){.per_head = per_head < rows ? per_head : rows};
  if (selection->per_head == rows) return true;
  bool *taken = malloc(rows * sizeof *taken);
  selection->rows = malloc(heads * selection->per_head * sizeof *selection->rows);
  if (!taken || !selection->rows) {
    free(taken);
    selection_free(selection);
    return fail(error, "not enough memory to select rows of %s", shape_describe(shape).text);
  }
  for (size_t head = 0; head < heads; head++) {
    select_rows(taken, rows, selection->per_head, &seed);
    int *next = selection->rows + head * selection->per_head;
    for (size_t row = 0; row < rows; row++) {
      if (taken[row]) *next++ = (int)row;
    }
  }
  free(taken);
  return true;
}

void selection_free(row_selection *selection) {
  free(selection->rows);
  *selection = (row_selection){0};
}

size_t selection_count(const row_selection *selection, const attention_shape *shape) {
  return selection->rows ? selection->per_head : (size_t)shape->seq_q;
}

size_t selection_row(const row_selection *selection, size_t head, size_t i) {
  return selection->rows ? (size_t)selection->rows[head * selection->per_head + i] : i;
}

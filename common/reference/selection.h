// Selects some rows of every head, for problems where the reference of all rows would take minutes.
#ifndef SELECTION_H
#define SELECTION_H

#include "attention.h"
#include "error/error.h"

typedef struct {
  size_t per_head; // how many rows of each head
  int *rows;       // [batch * heads][per_head], ascending in each head, none twice; NULL stands for
                   // all rows of every head
} row_selection;

// Selects `per_head` rows of each head by the seed, or all rows when there are no more. Each head gets other
// rows. The first row, the last and the second are selected before any other. About half of the others are the
// first or the last row of a tile of 16 rows, where loops over tiles end and begin, and the rest come from anywhere.
// Returns false with a sentence when memory runs out.
bool selection_create(const attention_shape *shape, size_t per_head, uint64_t seed,
                      row_selection *selection, error_text *error);
void selection_free(row_selection *selection);

// Returns how many rows of each head a reference computes in seconds: as many as make 2^26 pairs of a row of Q and a
// row of K in all heads together. Where these are fewer than eight, it is eight, or as many as make 2^29 pairs if that
// is less. The result is at least 1, and at most seq_q.
size_t selection_quick_rows(const attention_shape *shape);

// They return how many rows of each head the selection holds, and which row is number i of head `head`, counted over
// batch * heads.
size_t selection_count(const row_selection *selection, const attention_shape *shape);
size_t selection_row(const row_selection *selection, size_t head, size_t i);

#endif

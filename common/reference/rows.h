// Visits the rows of a problem, with the data that each of them reads. All code that computes O on the host
// uses it.
#ifndef ROWS_H
#define ROWS_H

#include "attention.h"
#include "error/error.h"
#include "reference/selection.h"

typedef struct {
  attention_dtype dtype;
  float scale;
  int keys, dim;       // keys that the row sees
  const float *q;      // [dim]
  const float *K, *V;  // [keys, dim]
  const float *K_norm; // [keys], the Euclidean norm of each row of K
  size_t number;       // of the row, among the selected ones of all heads
  double *scratch;     // [keys + dim], the thread's own memory
} row_problem;

// Returns the number of rows of the selection, in all heads.
size_t rows_count(const attention_shape *shape, const row_selection *selection);

// Calls `visit` for every row of the selection, from several threads at once. q, k and v hold fp16 or bf16 bits.
// A terminal shows `label` meanwhile. Returns false, with a sentence, when memory runs out.
bool rows_visit(const attention_shape *shape, const row_selection *selection, const uint16_t *q,
                const uint16_t *k, const uint16_t *v, const char *label,
                void (*visit)(const row_problem *row, void *context), void *context,
                error_text *error);

#endif

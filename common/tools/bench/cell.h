// One cell of the bench: several steps on the same tensors of one shape, checked and then timed in turn.
#ifndef CELL_H
#define CELL_H

#include "measure/measure.h"
#include "result/result.h"

// What one step did in the cell.
typedef struct {
  result_row result;
  const timing_contender *bursts; // the samples; NULL when it was not timed
  error_text note; // why it was skipped or not timed, or what is wrong with its result; else empty
} cell_row;

typedef struct cell {
  size_t count;
  cell_row *rows;          // one for each step
  measured_steps measured; // of those that are right
  size_t
      checked_rows; // of each head, that were compared with the reference; 0 when all steps skipped
} cell;

// Query rows of each head that a cell is checked by: so many that the reference multiplies 2^26 pairs of
// rows of Q and K, which takes seconds; all, where there are no more.
size_t cell_checked_rows(const attention_shape *shape);

// Checks every step that can take the shape, and for which the GPU has memory, against the float64
// reference of some rows (trial_reference_some), and times those that are right, on standard normal
// inputs. Skipped and wrong steps have their reason in `note`. False with a sentence when the machine
// fails. The cell is to be freed in any case.
bool cell_measure(const device_info *device, const attention_shape *shape,
                  const attention_step *steps, size_t count, const measure_plan *plan, cell *cell,
                  error_text *error);
void cell_free(cell *cell);

#endif

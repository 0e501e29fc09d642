// A cell of the bench runs several steps on the same tensors of one shape. They are checked and then timed in
// turn.
#ifndef CELL_H
#define CELL_H

#include "measure/measure.h"
#include "result/result.h"

// Holds the result of one step in the cell.
typedef struct {
  result_row result;
  const timing_contender *bursts; // the samples; NULL when it was not timed
  error_text note; // why it was skipped or not timed, or what is wrong with its result; else empty
} cell_row;

typedef struct cell {
  size_t count;
  cell_row *rows;          // one for each step
  measured_steps measured; // of those that are right
  bool launch_failed; // where the cell could not be measured: a launch did, and the machine did not
  size_t
      checked_rows; // of each head, that were compared with the reference; 0 when all steps skipped
} cell;

// Checks every step that can take the shape, and for which the GPU has memory, against the float64
// reference of some rows (selection_quick_rows), and times those that are right, on standard normal
// inputs. `note` says why a step was skipped or is wrong. Returns false with a sentence when the machine
// fails, or when nothing can be launched any more, or a launch fails while the steps are timed. The cell must be freed in
// any case.
bool cell_measure(const device_info *device, const attention_shape *shape,
                  const attention_step *steps, size_t count, const measure_plan *plan, cell *cell,
                  error_text *error);
void cell_free(cell *cell);

// Tells whether the step takes the shape, and could be measured on it if nothing else were in the GPU's memory.
bool cell_is_possible(const device_info *device, const attention_step *step,
                      const attention_shape *shape);

#endif

// Checks what a step does in launches such as those that were timed.
#ifndef REVIEW_H
#define REVIEW_H

#include "measure/sets.h"

// Runs the step once more for O alone, as trial_check_timed does, and then on some of the sets in a row, as the timed
// launches were; a second time in a graph, if it was timed in one. Checks each O. A step that takes its inputs for those
// of an earlier launch, and leaves O as it is, is found so. Without a reference nothing is checked. Returns false with
// check->message set when something is wrong.
bool review_step(trial *trial, const attention_step *step, const buffer_sets *sets, bool replayed,
                 check_result *check);

#endif

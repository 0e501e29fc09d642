// Finds out which row of one recording belongs to which row of the other.
#ifndef PAIRING_H
#define PAIRING_H

#include "compare/judge.h"

// A row that was timed in one recording only.
typedef struct {
  const measurement *row;
  const measurement *other; // of the same step and shape, not timed; NULL when there is none
  bool is_old;              // the row is the old recording's
} lonely_row;

// Every timed row is either in a comparison or lonely.
typedef struct pairing {
  size_t count;
  comparison *comparisons; // [count]: its two runs, not judged yet
  size_t lonely_count;
  lonely_row *lonely; // [lonely_count]
} pairing;

// Pairs by step, configuration and shape. With step names, the rows of `old_step` in the old recording
// are paired with those of `new_step` in the new one by shape alone; both or neither are NULL. A name
// is that of the row or its number, such as "05_wmma", "05" or "step05". Returns false with a sentence when a
// recording has no such step, has several configurations of it, or when no timed row has another. The
// recordings must outlive the pairing.
bool pairing_create(const recording *old_run, const char *old_step, const recording *new_run,
                    const char *new_step, pairing *pairing, error_text *error);
void pairing_free(pairing *pairing);

#endif

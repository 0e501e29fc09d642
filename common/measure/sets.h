// Several copies of a trial's tensors, so that launches which take them in turn find none of them in the cache.
#ifndef SETS_H
#define SETS_H

#include "trial/trial.h"

enum { SETS_INPUTS = 3, SETS_TENSORS = 4 }; // Q, K, V; and O

// The sets of tensors. Number 0 is the trial's own, and the others are copies that lie one after the other.
typedef struct {
  size_t count;
  size_t bytes; // of a copy
  guarded_buffer copies;
  attention_args own;
  size_t offsets[SETS_TENSORS]; // of the tensors in a copy
} buffer_sets;

// Makes as many sets as leave none in a cache of `l2_bytes`. Returns false with a sentence when memory runs out; the sets
// must be freed in any case.
bool buffer_sets_create(const trial *trial, size_t l2_bytes, buffer_sets *sets, error_text *error);
void buffer_sets_free(buffer_sets *sets);

// Returns the arguments of a launch on the set of that number, for O alone.
attention_args buffer_sets_arguments(const buffer_sets *sets, size_t number);

#endif

// Test tensors, which a seed reproduces. Each kind of input is made to reveal a different mistake.
#ifndef INPUTS_H
#define INPUTS_H

#include "attention.h"

typedef enum {
  INPUTS_NORMAL, // standard normal: the everyday case, scores of standard deviation 1
  INPUTS_LARGE,  // Q thirty times larger: softmax without the row max overflows
  INPUTS_EQUAL,  // all rows of a head alike: O is V's row exactly, so a wrong row sum shows
  INPUTS_ONEHOT, // Q and K one-hot: a row attends to one key in head_dim, so a wrong key shows
  INPUTS_RAMP,   // values that grow along rows and columns: a transposed index shows
  INPUTS_LIMIT,  // Q and V near the largest fp16, K subnormal: a 16-bit accumulator overflows
  INPUTS_RISING, // scores that rise along the keys, by 1 to 130 in log2 at the usual scale: a row max of
  // earlier keys that serves for too long overflows. Heads differ in how much and where,
  // 16 of them have all cases; in half of them one row in 16 rises alone.
  INPUTS_KINDS
} inputs_kind;

typedef enum { INPUTS_Q, INPUTS_K, INPUTS_V } inputs_tensor;

// Returns the kind's name on the command line, such as "normal".
const char *inputs_name(inputs_kind kind);

// Finds the kind of that name. Returns false, and leaves *kind as it is, when there is none.
bool inputs_from_name(const char *name, inputs_kind *kind);

// Fills one tensor of the shape, fp16 or bf16 bits in the layout of attention.h. The same arguments
// give the same bits on every machine with the same math library.
void inputs_fill(const attention_shape *shape, inputs_kind kind, inputs_tensor tensor,
                 uint64_t seed, uint16_t *out);

#endif

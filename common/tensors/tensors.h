// Fills a trial's Q, K and V: made from a seed, or read from the reader's .npy files.
//
// Files hold rank 4, (batch, heads, seq, head_dim), in float16 or float32, which are rounded to
// the element type, or for bf16 also as uint16: the bits of bf16, which NumPy has no type for.
#ifndef TENSORS_H
#define TENSORS_H

#include "npy/npy.h"
#include "options/options.h"
#include "trial/trial.h"

// Q, K and V as their files hold them; all empty when the inputs are to be made.
typedef struct {
  npy_array arrays[3];
} tensor_files;

// Reads the three files that the options name (none: leaves `files` empty) and fills in the shape: its
// sizes from the files, or else from the options and defaults. False with a sentence when a file
// cannot be read, is of a type or rank that makes no Q, K or V, when the three do not fit together, or
// when a size option contradicts them. `files` is to be freed in any case.
bool tensors_open(const options *options, bool emulated, tensor_files *files,
                  attention_shape *shape, error_text *error);
void tensors_close(tensor_files *files);

// Fills the trial's Q, K and V from the files, or makes them when there are none. False when an
// element is not finite, or not any more once it is rounded to the element type.
bool tensors_fill(const options *options, const tensor_files *files, trial *trial,
                  error_text *error);

#endif

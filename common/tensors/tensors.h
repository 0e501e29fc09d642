// Fills a trial's Q, K and V with values made from a seed, or read from the reader's .npy files.
//
// Files hold arrays of rank 4, (batch, heads, seq, head_dim), in float16 or float32, which are rounded to the
// element type. For bf16 they may also hold uint16 with the bits of bf16, for which NumPy has no type.
#ifndef TENSORS_H
#define TENSORS_H

#include "npy/npy.h"
#include "options/options.h"
#include "trial/trial.h"

// Q, K and V as their files hold them; all are empty when the inputs are made from a seed.
typedef struct {
  npy_array arrays[3];
} tensor_files;

// Reads the three files that the options name, or leaves `files` empty when they name none, and fills in the
// shape. Its sizes come from the files, or else from the options and defaults. Returns false with a sentence
// when a file cannot be read or has a type or rank that Q, K and V cannot have, when the three do not fit
// together, or when a size option contradicts them. `files` must be freed in any case.
bool tensors_open(const options *options, bool emulated, tensor_files *files,
                  attention_shape *shape, error_text *error);
void tensors_close(tensor_files *files);

// Fills the trial's Q, K and V from the files, or makes them when there are no files. Returns false when an
// element is not finite, or is no longer finite after it is rounded to the element type.
bool tensors_fill(const options *options, const tensor_files *files, trial *trial,
                  error_text *error);

#endif

// Reads the command line of a step's program.
#ifndef OPTIONS_H
#define OPTIONS_H

#include "attention.h"
#include "error/error.h"
#include "inputs/inputs.h"
#include "options/option_table.h"

typedef enum { OUTPUT_FLOAT16, OUTPUT_BFLOAT16, OUTPUT_FLOAT32 } output_dtype;

typedef struct options {
  bool given[OPTION_COUNT]; // which options stood on the command line; a flag is no more than that
  attention_shape shape;    // sizes that were not given are 0, see options_shape
  inputs_kind inputs;
  uint64_t seed;          // of the inputs
  const char *q, *k, *v;  // paths of the reader's own tensors; NULL when not given
  const char *out, *lse;  // paths to write to; NULL when not given
  output_dtype out_dtype; // how `out` holds O
  size_t rounds;          // of timing; 0: as many as it needs
  size_t warm_up;
  int gpus;      // of a step for several; 0 for all
  size_t splits; // of the keys; 0 for the step's own choice
  const char *
      config; // name of a configuration, ":N" behind it for N splits; NULL for the step's own choice
  uint64_t emu_seed; // the order in which the emulator runs threads
} options;

// Reads the command line. Returns false with a sentence that says which argument is wrong and what to give in
// its place. It reads nothing after --help. The paths point into argv, and so does `config`, except that with
// --splits it points to static memory, which the next call writes again.
bool options_parse(int argc, char *const *argv, options *options, error_text *error);

// Returns false with a sentence when an option asks for something that the device cannot do. The emulator
// takes no times, and a GPU's order of threads cannot be set.
bool options_fit_device(const options *options, bool emulated, error_text *error);

// Returns false with a sentence when an option is for the steps for several GPUs alone.
bool options_fit_one_gpu(const options *options, error_text *error);

// Returns the shape to run when it does not come from files. It has the sizes that were given and the
// defaults for the others, which are small on the emulator. The sizes may still not fit together
// (shape_valid).
attention_shape options_shape(const options *options, bool emulated);

// Returns the usual scale, 1 / sqrt(head_dim).
float options_default_scale(int head_dim);

#endif

// What the command line of a step's program asks for.
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
  const char *config; // name of a configuration; NULL for the step's own choice
  uint64_t emu_seed;  // the order in which the emulator runs threads
} options;

// Reads the command line. False with a sentence that says which argument is wrong and what to give in
// its place. After --help nothing else is looked at. The paths point into argv.
bool options_parse(int argc, char *const *argv, options *options, error_text *error);

// False when an option asks for what the device has not: the emulator takes no times, and nobody sets
// a GPU's order of threads.
bool options_fit_device(const options *options, bool emulated, error_text *error);

// The shape to run when it does not come from files: what was given, and for the rest the defaults,
// which are small on the emulator. Sizes may still not fit together (shape_valid).
attention_shape options_shape(const options *options, bool emulated);

// The usual scale: 1 / sqrt(head_dim).
float options_default_scale(int head_dim);

#endif

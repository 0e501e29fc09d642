// The table of the options of a step's program, with their names and the text that --help prints for each.
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stddef.h>

typedef enum {
  OPTION_BATCH,
  OPTION_HEADS,
  OPTION_KV_HEADS,
  OPTION_SEQ,
  OPTION_SEQ_Q,
  OPTION_SEQ_KV,
  OPTION_DIM,
  OPTION_DTYPE,
  OPTION_CAUSAL,
  OPTION_SCALE,
  OPTION_INPUTS,
  OPTION_SEED,
  OPTION_Q,
  OPTION_K,
  OPTION_V,
  OPTION_OUT,
  OPTION_OUT_DTYPE,
  OPTION_LSE,
  OPTION_O_ALONE,
  OPTION_NO_CHECK,
  OPTION_CONFIG,
  OPTION_SPLITS,
  OPTION_GPUS,
  OPTION_MPI,
  OPTION_EMU_SEED,
  OPTION_NO_TIME,
  OPTION_ROUNDS,
  OPTION_WARM_UP,
  OPTION_WARM_L2,
  OPTION_CSV,
  OPTION_HELP,
  OPTION_COUNT
} option_id;

typedef struct {
  const char *name;    // with the dashes
  const char *value;   // what --help calls the value; NULL for a flag, which has none
  const char *example; // a value, for the sentence that says one is missing
  const char *help;    // lines of at most 72 characters
} option_description;

extern const option_description option_table[OPTION_COUNT];

// Returns the id of the option whose name is the first `length` characters of `name`; OPTION_COUNT when there
// is none.
option_id option_find(const char *name, size_t length);

// Returns the option whose name is most like the first `length` characters of `name`.
option_id option_nearest(const char *name, size_t length);

#endif

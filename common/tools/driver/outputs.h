// Writes O and lse to .npy files.
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include "options/options.h"
#include "trial/trial.h"

// Whether the files that --out and --lse name can be written: to be asked before the work begins.
// Leaves nothing behind.
bool outputs_writable(const options *options, error_text *error);

// Writes what trial_run brought back to the files that the options name, if any: O
// [batch, heads, seq_q, head_dim] in the type of --out-dtype, lse [batch, heads, seq_q] in float32.
// A file appears whole or not at all.
bool outputs_write(const options *options, const trial *trial, error_text *error);

#endif

// Writes O and lse to .npy files.
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include "options/options.h"
#include "trial/trial.h"

// Tells whether the files that --out and --lse name can be written. Call it before the work begins.
// It leaves no files behind.
bool outputs_writable(const options *options, error_text *error);

// Writes the results of trial_run to the files that the options name, if any. They are O [batch,
// heads, seq_q, head_dim] in the type of --out-dtype, lse [batch, heads, seq_q] in float32. A file
// appears whole or not at all.
bool outputs_write(const options *options, const trial *trial, error_text *error);

#endif

// Chooses the problem that the ladder runs on a GPU.
#ifndef LADDER_PROBLEM_H
#define LADDER_PROBLEM_H

#include "attention.h"
#include "device/device.h"

typedef struct {
  attention_shape shape;
  bool smaller;   // than the problem of the published table, 4 x 32 x 4096 x 64
  double seconds; // that step 01 takes on the GPU, as an estimate
  double bytes;   // of device memory that steps 01 to 03 need: the score matrix, and the tensors
} ladder_problem;

// Fills in the sizes that are 0 in `given`: batch, heads, seq_q, seq_kv. They are those of the published table where
// steps 01 to 03 need at most three quarters of the GPU's memory, and step 01, which is the slowest, at most about a
// second. On a smaller GPU the batch is halved until that holds, then the sequence, then the heads. Sizes
// that are given do not change.
ladder_problem ladder_choose(const attention_shape *given, const device_info *device);

#endif

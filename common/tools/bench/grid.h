// The shapes that the bench measures. Each has 16384 rows and 2048 columns in all, so that the tensors of all
// shapes have the same number of bytes, and longer sequences need more work on them.
#ifndef GRID_H
#define GRID_H

#include "attention.h"

enum { GRID_MOST = 44 }; // shapes of the whole grid

// Selects a part of the grid; 0, or -1 for the enumerations, stands for all values.
typedef struct {
  bool quick; // fp16 only, three lengths: a minute's worth
  int seq;
  int head_dim;
  int dtype;  // attention_dtype
  int causal; // 0 or 1
} grid_filter;

#define GRID_WHOLE ((grid_filter){false, 0, 0, -1, -1})

// Fills in the shapes, short sequences first, and returns how many there are.
//   batch * seq = 16384, heads * head_dim = 2048: seq 128 to 16384, head_dim 64 and 128
//   and a small one, 4 x 8 x 512 x 64
// each with and without the causal mask, in fp16, and those of seq 512 and 4096 in bf16 as well. The tensor
// cores take both types at the same speed, so the other lengths in bf16 would only repeat the result.
size_t grid_make(const grid_filter *filter, attention_shape shapes[GRID_MOST]);

#endif

// The shapes that the bench measures: the grid, or those of decode. A shape of the grid has 16384 rows and 2048
// columns in all, so that the tensors of all shapes have the same number of bytes, and longer sequences need more
// work on them.
#ifndef GRID_H
#define GRID_H

#include "attention.h"

enum { GRID_MOST = 128 }; // shapes of either

// Selects a part of the shapes; 0, or -1 for the enumerations, stands for all values.
typedef struct {
  bool decode; // of decode, in place of the grid
  bool quick;  // a part of the grid
  int seq;     // of K and V, and in the grid of Q as well
  int head_dim;
  int dtype;  // attention_dtype
  int causal; // 0 or 1
} grid_filter;

#define GRID_WHOLE ((grid_filter){.dtype = -1, .causal = -1})

// Fills in the shapes, and returns how many there are. The grid has, short sequences first,
//   batch * seq = 16384, heads * head_dim = 2048: seq 128 to 16384, head_dim 64 and 128
//   and a small one, 4 x 8 x 512 x 64
// each with and without the causal mask, in fp16, and those of seq 512 and 4096 in bf16 as well. The tensor
// cores take both types at the same speed, so the other lengths in bf16 would only repeat the result. Its quick
// part has three lengths, in fp16.
//
// The shapes of decode are those of `make decode`, in the same order (decode() of common/tools/peers/grid.py): one
// query, or four under the causal mask, against 1024 to 65536 keys of 1 to 64 sequences, with 32 or 64 heads, of
// which several may share a head of K and V. They are in bf16, with head_dim 128.
size_t grid_make(const grid_filter *filter, attention_shape shapes[GRID_MOST]);

#endif

// The box copies that a block has started and that have not arrived, and those to tensors that a thread has not waited for.
#ifndef BOX_COPIES_H
#define BOX_COPIES_H

#include "tensor_map.h"

typedef struct {
  char *shared;            // the box in shared memory
  uint32_t shared_address; // its address there; the swizzle depends on its bits
  uint64_t *barrier;       // NULL for one that goes to the tensor
  tensor_map map;
  int coordinate[TENSOR_RANK_MAX];
  bool plain;       // bytes in a row, without a map
  unsigned thread;  // the thread of the block that started it
  uint32_t started; // when, by the observer's clock
  const void *code; // the code that started it, for its line
  uint64_t group;   // of one that goes to the tensor: its number among the thread's groups
  emulator_site site;
} box_copy;

typedef struct {
  box_copy *pending; // oldest first; the memory is kept from block to block
  unsigned count, room;
} box_copies;

typedef struct {
  box_copies copies;  // kept from block to block
  uint64_t committed; // number of committed groups
} box_stores;

#endif

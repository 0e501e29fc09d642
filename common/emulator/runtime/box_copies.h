// The box copies that a block has started and that have not arrived.
#ifndef BOX_COPIES_H
#define BOX_COPIES_H

#include "tensor_map.h"

typedef struct {
  char *destination;
  uint32_t shared_address; // of the destination; the swizzle depends on its bits
  uint64_t *barrier;
  tensor_map map;
  int coordinate[TENSOR_RANK_MAX];
  unsigned thread;  // the thread of the block that started it
  uint32_t started; // when, by the observer's clock
  const void *code; // the code that started it, for its line
  emulator_site site;
} box_copy;

typedef struct {
  box_copy *pending; // oldest first; the memory is kept from block to block
  unsigned count, room;
} box_copies;

#endif

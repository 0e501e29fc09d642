// The copies that a thread has started and has not yet waited for.
#ifndef ASYNC_COPIES_H
#define ASYNC_COPIES_H

#include "async_copy.h"

typedef struct {
  void *destination;
  const void *source;
  unsigned bytes, zeros;
  uint64_t group;   // its number among the thread's groups
  uint32_t started; // when, by the observer's clock
  emulator_site site;
} async_copy;

typedef struct {
  async_copy *pending; // oldest first; kept from block to block
  unsigned count, room;
  uint64_t committed; // number of committed groups
} async_copies;

#endif

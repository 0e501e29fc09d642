// Tells which of a kernel's accesses go to memory that the counter observes.
#ifndef SPACE_H
#define SPACE_H

#include "block.h"

typedef enum {
  SPACE_GLOBAL, // memory that cudaMalloc and similar functions allocated
  SPACE_SHARED,
  SPACE_NONE // a thread's own variables, a kernel's parameters, the emulator's own data
} space;

space space_of(const worker *worker, uintptr_t address);

// Call it when an allocation was made or freed.
void space_changed(void);

#endif

// Which of a kernel's accesses go to memory that the counter looks at.
#ifndef SPACE_H
#define SPACE_H

#include "block.h"

typedef enum {
  SPACE_GLOBAL, // what cudaMalloc and its like gave out
  SPACE_SHARED,
  SPACE_NONE // a thread's own variables, a kernel's parameters, the emulator's own data
} space;

space space_of(const worker *worker, uintptr_t address);

// An allocation has come or gone.
void space_changed(void);

#endif

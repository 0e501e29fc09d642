// Stand-in for the PTX of common/kernel/flags.cuh, which describes the function. An atomic function lets transfers arrive
// while the kernel polls.
#ifndef FLAG_FUNCTIONS_H
#define FLAG_FUNCTIONS_H

#include "cuda_runtime.h"

inline int wait_for_flag(const int *flag, int least) {
  int value;
  while ((value = atomicAdd((int *)flag, 0)) < least) __nanosleep(100);
  emulator::acquire();
  return value;
}

#endif

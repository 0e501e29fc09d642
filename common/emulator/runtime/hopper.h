// A check that all of Hopper's instructions share.
#ifndef HOPPER_H
#define HOPPER_H

#include "capability.h"

// Reports a fault when the GPU does not have the instruction because its compute capability is below 9.0.
static inline void hopper_check(const worker *worker, const emulator_site *site) {
  capability_check(worker, 90, "the instruction", site);
}

#endif

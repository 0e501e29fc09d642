// What all of Hopper's instructions have in common.
#ifndef HOPPER_H
#define HOPPER_H

#include "block.h"

// Reports a fault when the GPU does not have the instruction: its compute capability is below 9.0.
static inline void hopper_check(const worker *worker, const emulator_site *site) {
  const gpu *gpu = worker->gpu;
  if (gpu->major < 9) {
    emulator_fault(
        cudaErrorNoKernelImageForDevice,
        "%s in %s:%d: the %s has compute capability %d.%d, and the instruction came with "
        "9.0: set EMU_GPU to h200",
        site->operation, site->file, site->line, gpu->name, gpu->major, gpu->minor);
  }
}

#endif

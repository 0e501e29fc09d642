// Faults for features that only some GPUs have.
#ifndef CAPABILITY_H
#define CAPABILITY_H

#include "block.h"

// Reports a fault when the GPU's compute capability is below `needed`, which is 90 for 9.0.
// `what` names the feature and begins a part of the sentence, such as "the instruction".
static inline void capability_check(const worker *worker, int needed, const char *what,
                                    const emulator_site *site) {
  const gpu *gpu = worker->gpu;
  if (10 * gpu->major + gpu->minor < needed) {
    emulator_fault(cudaErrorNoKernelImageForDevice,
                   "%s in %s:%d: the %s has compute capability %d.%d, and %s came with %d.%d: set "
                   "EMU_GPU to h200",
                   site->operation, site->file, site->line, gpu->name, gpu->major, gpu->minor, what,
                   needed / 10, needed % 10);
  }
}

#endif

// The runtime's part of copy_box of common/kernel/hopper.cuh: copies of boxes of a tensor to shared memory by the copy
// engine (TMA; PTX ISA 9.0, 9.7.9.27.1.2, "cp.async.bulk.tensor"). C17 and C++17, kernel side.
//
// A GPU may do such a copy at any time between its start and the end of the phase of the barrier that counts
// its bytes. The emulator does it at the latest: when no thread of the block can go on without it. Until
// then the destination is filled with 0xFF bytes, NaN in every format.
#ifndef BOX_COPY_H
#define BOX_COPY_H

#include "emulator.h"

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts to copy the box of `map` whose first element is at coordinate[0 .. rank - 1], the contiguous
// dimension first. What lies outside of the tensor arrives as zeros. Reports a fault when `map` is none or has
// another rank, when `destination` is not a multiple of 128 bytes in shared memory, when the barrier is
// none, and when the tensor is not in device memory.
EMULATOR_API void emulator_copy_box(void *destination, const CUtensorMap *map,
                                    const int *coordinate, unsigned rank, uint64_t *barrier,
                                    const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif

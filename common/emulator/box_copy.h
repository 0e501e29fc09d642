// The runtime's part of copy_box of common/kernel/hopper.cuh: the copy engine copies boxes of a tensor
// to shared memory, and back for programs that are not the lab's (TMA; PTX ISA 9.0, 9.7.9.27.1.2,
// "cp.async.bulk.tensor"). C17 and C++17, kernel side.
//
// A GPU may do such a copy at any time between its start and the end of the barrier phase that
// counts its bytes. The emulator does it as late as it may, when no thread of the block can continue
// without it. Until then it fills the destination with poison, which is NaN in every format (numeric/poison.h).
#ifndef BOX_COPY_H
#define BOX_COPY_H

#include "emulator.h"

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts to copy the box of `map` whose first element is at coordinate[0 .. rank - 1], the
// contiguous dimension first. Elements outside of the tensor arrive as zeros. Reports a fault when
// `map` is not a tensor map or has another rank, when `destination` is not a multiple of 128 bytes
// in shared memory, when `barrier` is not a barrier, and when the tensor is not in device memory.
EMULATOR_API void emulator_copy_box(void *destination, const CUtensorMap *map,
                                    const int *coordinate, unsigned rank, uint64_t *barrier,
                                    const emulator_site *site);

// The same for all blocks of the cluster whose ranks are bits of `blocks`: each has a copy at the same place of its own
// shared memory, and its barrier at the same place counts the bytes.
EMULATOR_API void emulator_multicast_box(void *destination, const CUtensorMap *map,
                                         const int *coordinate, unsigned rank, uint64_t *barrier,
                                         unsigned blocks, const emulator_site *site);

// Starts to copy shared memory to the box; elements outside of the tensor are left out. The copy belongs to the group that
// the thread commits next. It is done where the thread waits, so a kernel that changes the source before stores the wrong
// numbers, or else where the thread ends. Reports the same faults.
EMULATOR_API void emulator_store_box(const CUtensorMap *map, const int *coordinate, unsigned rank,
                                     const void *source, const emulator_site *site);
// Both for bytes in a row, without a map: a multiple of 16, and so are their places (9.7.9.27.1.1, "cp.async.bulk").
EMULATOR_API void emulator_copy_bytes(void *destination, const void *source, size_t bytes,
                                      uint64_t *barrier, const emulator_site *site);
EMULATOR_API void emulator_store_bytes(void *destination, const void *source, size_t bytes,
                                       const emulator_site *site);

EMULATOR_API void emulator_store_commit(const emulator_site *site);

// Waits until all groups of the thread but the newest `newest` are stored.
EMULATOR_API void emulator_store_wait(size_t newest, const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif

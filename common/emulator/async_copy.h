// What <cuda_pipeline_primitives.h> calls: copies from global to shared memory that a thread starts
// and later waits for (cp.async). C17 and C++17, kernel side.
//
// A GPU may do such a copy at any time between the start and the end of the wait. The emulator does
// it at the latest, in the wait; until then the destination is filled with 0xFF bytes, NaN in every
// format. A kernel that reads too early, or never waits, then gets wrong results every time.
#ifndef ASYNC_COPY_H
#define ASYNC_COPY_H

#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts a copy of `bytes` - `zeros` bytes, which are read when it is done, followed by `zeros` zero
// bytes. Reports a fault when `bytes` is not 4, 8 or 16, when an address is not a multiple of it,
// when `zeros` is more, when the destination is not in shared memory or the source is (CUDA C++
// Programming Guide, "Pipeline Primitives Interface"; PTX ISA, "cp.async").
EMULATOR_API void emulator_async_copy(void *destination, const void *source, size_t bytes,
                                      size_t zeros, const emulator_site *site);

// Makes a group of the copies that the thread has started since its last one. It may be empty.
EMULATOR_API void emulator_async_commit(void);

// Does the copies of all the thread's groups but the newest `newest`.
EMULATOR_API void emulator_async_wait(size_t newest);

#ifdef __cplusplus
}
#endif
#endif

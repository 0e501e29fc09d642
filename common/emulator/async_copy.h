// The functions that <cuda_pipeline_primitives.h> calls. They copy from global to shared
// memory; a thread starts a copy and later waits for it (cp.async). C17 and C++17, kernel side.
//
// A GPU may do such a copy at any time between the start and the end of the wait. The emulator does it
// as late as it may, in the wait; until then it fills the destination with poison, which is NaN
// in every format. A kernel that reads too early, or never waits, then gets wrong results every time.
#ifndef ASYNC_COPY_H
#define ASYNC_COPY_H

#include "emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

// Starts a copy: when it is done, the destination holds `bytes` - `zeros` bytes of the source, followed
// by `zeros` zero bytes. Reports a fault when `bytes` is not 4, 8 or 16, when an address is not a
// multiple of `bytes`, when `zeros` exceeds `bytes`, when the destination is not in shared memory or
// the source is (CUDA C++ Programming Guide, "Pipeline Primitives Interface"; PTX ISA, "cp.async").
EMULATOR_API void emulator_async_copy(void *destination, const void *source, size_t bytes,
                                      size_t zeros, const emulator_site *site);

// Commits the copies that the thread has started since its last commit as one group, which may be empty.
EMULATOR_API void emulator_async_commit(const emulator_site *site);

// Completes the copies of all the thread's groups except the newest `newest`.
EMULATOR_API void emulator_async_wait(size_t newest, const emulator_site *site);

#ifdef __cplusplus
}
#endif
#endif

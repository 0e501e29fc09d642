// Stand-in for CUDA's <cuda_pipeline_primitives.h>: asynchronous copies from global to shared memory
// (CUDA C++ Programming Guide, "Pipeline Primitives Interface"). async_copy.h says when they happen.
#ifndef CUDA_PIPELINE_PRIMITIVES_H
#define CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

#ifdef __cplusplus
#include "async_copy.h"

// `size_and_align` is 4, 8 or 16 bytes; the last `zfill` of them are set to zero instead of copied.
inline void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size_and_align,
                                    size_t zfill = 0, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__pipeline_memcpy_async()", file, line};
  emulator_async_copy(dst_shared, src_global, size_and_align, zfill, &site);
}

inline void __pipeline_commit(EMULATOR_CALL_SITE) {
  const emulator_site site = {"__pipeline_commit()", file, line};
  emulator_async_commit(&site);
}

// Waits for all groups that the thread has committed, except the newest `prior`.
inline void __pipeline_wait_prior(size_t prior, EMULATOR_CALL_SITE) {
  const emulator_site site = {"__pipeline_wait_prior()", file, line};
  emulator_async_wait(prior, &site);
}

#endif
#endif

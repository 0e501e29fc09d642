// The functions of libcu++ on barriers that count bytes and on the copy engine, for <cuda/barrier> (CUDA C++ Programming
// Guide, "Using TMA to transfer multi-dimensional arrays"). -*- C++ -*-
#ifndef EMULATOR_CUDA_DETAIL_BULK_COPY_H
#define EMULATOR_CUDA_DETAIL_BULK_COPY_H

#include "box_copy.h"
#include "warpgroup.h"

namespace cuda {
namespace device {

template <thread_scope Scope, typename Completion>
uint64_t *barrier_native_handle(barrier<Scope, Completion> &barrier) {
  return barrier.native();
}

template <typename Completion>
[[nodiscard]] typename barrier<thread_scope_block, Completion>::arrival_token
barrier_arrive_tx(barrier<thread_scope_block, Completion> &barrier, long long count,
                  long long bytes, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cuda::device::barrier_arrive_tx()", file, line};
  return barrier.arrive_announcing(count, bytes, site);
}

namespace experimental {

// CUDA's examples have no other fence behind the barriers that they make, so it makes these visible, too.
inline void fence_proxy_async_shared_cta(EMULATOR_CALL_SITE) {
  const emulator_site site = {"fence_proxy_async_shared_cta()", file, line};
  emulator_proxy_fence(&site);
  emulator_mbarrier_fence();
}

#define EMULATOR_COPY_BOX(dimensions, parameters, ...)                                             \
  __attribute__((always_inline)) inline void                                                       \
      cp_async_bulk_tensor_##dimensions##d_global_to_shared(                                       \
          void *destination, const CUtensorMap *map, EMULATOR_PARAMETERS parameters,               \
          barrier<thread_scope_block> &barrier, EMULATOR_CALL_SITE) {                              \
    const emulator_site site = {"cp_async_bulk_tensor_" #dimensions "d_global_to_shared()", file,  \
                                line};                                                             \
    const int coordinate[] = {__VA_ARGS__};                                                        \
    emulator_copy_box(destination, map, coordinate, dimensions, barrier.native(), &site);          \
  }                                                                                                \
  __attribute__((always_inline)) inline void                                                       \
      cp_async_bulk_tensor_##dimensions##d_shared_to_global(                                       \
          const CUtensorMap *map, EMULATOR_PARAMETERS parameters, const void *source,              \
          EMULATOR_CALL_SITE) {                                                                    \
    const emulator_site site = {"cp_async_bulk_tensor_" #dimensions "d_shared_to_global()", file,  \
                                line};                                                             \
    const int coordinate[] = {__VA_ARGS__};                                                        \
    emulator_store_box(map, coordinate, dimensions, source, &site);                                \
  }
#define EMULATOR_PARAMETERS(...) __VA_ARGS__
EMULATOR_COPY_BOX(1, (int x), x)
EMULATOR_COPY_BOX(2, (int x, int y), x, y)
EMULATOR_COPY_BOX(3, (int x, int y, int z), x, y, z)
EMULATOR_COPY_BOX(4, (int x, int y, int z, int w), x, y, z, w)
EMULATOR_COPY_BOX(5, (int x, int y, int z, int w, int v), x, y, z, w, v)
#undef EMULATOR_PARAMETERS
#undef EMULATOR_COPY_BOX

__attribute__((always_inline)) inline void
cp_async_bulk_global_to_shared(void *destination, const void *source, unsigned bytes,
                               barrier<thread_scope_block> &barrier, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp_async_bulk_global_to_shared()", file, line};
  emulator_copy_bytes(destination, source, bytes, barrier.native(), &site);
}
__attribute__((always_inline)) inline void cp_async_bulk_shared_to_global(void *destination,
                                                                          const void *source,
                                                                          unsigned bytes,
                                                                          EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp_async_bulk_shared_to_global()", file, line};
  emulator_store_bytes(destination, source, bytes, &site);
}
inline void cp_async_bulk_commit_group(EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp_async_bulk_commit_group()", file, line};
  emulator_store_commit(&site);
}
template <int newest>
void cp_async_bulk_wait_group_read(EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp_async_bulk_wait_group_read()", file, line};
  emulator_store_wait(newest, &site);
}

} // namespace experimental
} // namespace device
} // namespace cuda

#endif

// Barriers that count bytes, box copies, fences between the two ways to memory, and budgets of registers (PTX ISA 9.0,
// 9.7.9.27, 9.7.13 and 9.7.19.5). The declarations of the runtime say more of each function.
#ifndef EMULATOR_DETAIL_PTX_HOPPER_H
#define EMULATOR_DETAIL_PTX_HOPPER_H

#include "barriers.h"
#include "box_copy.h"
#include "matrix.h"
#include "warpgroup.h"

namespace emulator {
namespace ptx {

// ---- mbarrier -----------------------------------------------------------------------------------

EMULATOR_PTX uint64_t *barrier_at(char *address) { return reinterpret_cast<uint64_t *>(address); }

// The state that an arrival gives for a later wait is the parity of its phase. A look at a phase waits until the phase is
// over, because copies arrive only when threads wait; so it always says that the phase is over.
#define EMULATOR_PTX_MBARRIER(state, place)                                                        \
  template <typename T>                                                                            \
  EMULATOR_PTX void mbarrier_init_##state(u64 address, u32 arrivals, EMULATOR_CALL_SITE) {         \
    const emulator_site site = {"mbarrier.init", file, line};                                      \
    emulator_mbarrier_create(barrier_at(place(address)), arrivals, "&barrier", &site);             \
  }                                                                                                \
  template <typename T>                                                                            \
  EMULATOR_PTX void mbarrier_inval_##state(u64) {}                                                 \
  template <typename T, typename D>                                                                \
  EMULATOR_PTX void mbarrier_arrive_##state(D &d, u64 address, u32 arrivals = 1,                   \
                                            EMULATOR_CALL_SITE) {                                  \
    const emulator_site site = {"mbarrier.arrive", file, line};                                    \
    set(d, u64(emulator_mbarrier_parity(barrier_at(place(address)), &site)));                      \
    for (; arrivals > 0; arrivals--)                                                               \
      emulator_mbarrier_arrive(barrier_at(place(address)), 0, &site);                              \
  }                                                                                                \
  template <typename T, typename D>                                                                \
  EMULATOR_PTX void mbarrier_arrive_expect_tx_##state(D &d, u64 address, u32 bytes,                \
                                                      EMULATOR_CALL_SITE) {                        \
    const emulator_site site = {"mbarrier.arrive.expect_tx", file, line};                          \
    set(d, u64(emulator_mbarrier_parity(barrier_at(place(address)), &site)));                      \
    emulator_mbarrier_arrive(barrier_at(place(address)), bytes, &site);                            \
  }                                                                                                \
  EMULATOR_PTX_MBARRIER_WAIT(try_wait_parity_##state, "mbarrier.try_wait.parity", place)           \
  EMULATOR_PTX_MBARRIER_WAIT(test_wait_parity_##state, "mbarrier.test_wait.parity", place)         \
  EMULATOR_PTX_MBARRIER_WAIT(try_wait_##state, "mbarrier.try_wait", place)                         \
  EMULATOR_PTX_MBARRIER_WAIT(test_wait_##state, "mbarrier.test_wait", place)
#define EMULATOR_PTX_MBARRIER_WAIT(name, operation, place)                                         \
  template <typename T>                                                                            \
  EMULATOR_PTX void mbarrier_##name(bool &over, u64 address, u64 phase, u32 = 0,                   \
                                    EMULATOR_CALL_SITE) {                                          \
    const emulator_site site = {operation, file, line};                                            \
    emulator_mbarrier_wait(barrier_at(place(address)), static_cast<u32>(phase) & 1, &site);        \
    over = true;                                                                                   \
  }
EMULATOR_PTX_MBARRIER(, global)
EMULATOR_PTX_MBARRIER(shared_, shared)
#undef EMULATOR_PTX_MBARRIER
#undef EMULATOR_PTX_MBARRIER_WAIT

EMULATOR_PTX void fence_mbarrier_init_() { emulator_mbarrier_fence(); }

// ---- Box copies ---------------------------------------------------------------------------------

// CUDA's examples have no other fence behind the barriers that they make, so it makes these visible, too.
EMULATOR_PTX void fence_proxy_async_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"fence.proxy.async", file, line};
  emulator_proxy_fence(&site);
  emulator_mbarrier_fence();
}
EMULATOR_PTX void fence_proxy_async_shared_(EMULATOR_CALL_SITE) { fence_proxy_async_(file, line); }

// A copy's hints for the L2 cache change nothing.
template <typename T, typename D>
EMULATOR_PTX void createpolicy_fractional_(D &d, double = 1) {
  set(d, T(0));
}
template <unsigned rank>
EMULATOR_PTX void copy_box(u64 destination, u64 map, const int (&coordinate)[rank], u64 barrier,
                           const char *operation, const char *file, int line) {
  const emulator_site site = {operation, file, line};
  emulator_copy_box(shared(destination), reinterpret_cast<const CUtensorMap *>(map), coordinate,
                    rank, barrier_at(shared(barrier)), &site);
}
template <unsigned rank>
EMULATOR_PTX void multicast_box(u64 destination, u64 map, const int (&coordinate)[rank],
                                u64 barrier, unsigned blocks, const char *operation,
                                const char *file, int line) {
  const emulator_site site = {operation, file, line};
  emulator_multicast_box(shared(destination), reinterpret_cast<const CUtensorMap *>(map),
                         coordinate, rank, barrier_at(shared(barrier)), blocks, &site);
}
template <unsigned rank>
EMULATOR_PTX void store_box(u64 map, const int (&coordinate)[rank], u64 source,
                            const char *operation, const char *file, int line) {
  const emulator_site site = {operation, file, line};
  emulator_store_box(reinterpret_cast<const CUtensorMap *>(map), coordinate, rank, shared(source),
                     &site);
}
#define EMULATOR_PTX_COORDINATES(...) __VA_ARGS__
#define EMULATOR_PTX_BOX(dimensions, parameters, ...)                                              \
  EMULATOR_PTX void cp_async_bulk_tensor_##dimensions##d_shared_mbarrier_(                         \
      u64 destination, u64 map, EMULATOR_PTX_COORDINATES parameters, u64 barrier, u64 = 0,         \
      EMULATOR_CALL_SITE) {                                                                        \
    copy_box<dimensions>(destination, map, {__VA_ARGS__}, barrier,                                 \
                         "cp.async.bulk.tensor." #dimensions "d", file, line);                     \
  }                                                                                                \
  EMULATOR_PTX void cp_async_bulk_tensor_##dimensions##d_shared_mbarrier_multicast_(               \
      u64 destination, u64 map, EMULATOR_PTX_COORDINATES parameters, u64 barrier, u32 blocks,      \
      u64 = 0, EMULATOR_CALL_SITE) {                                                               \
    multicast_box<dimensions>(destination, map, {__VA_ARGS__}, barrier, blocks,                    \
                              "cp.async.bulk.tensor." #dimensions "d", file, line);                \
  }                                                                                                \
  EMULATOR_PTX void cp_async_bulk_tensor_##dimensions##d_shared_bulk_group_(                       \
      u64 map, EMULATOR_PTX_COORDINATES parameters, u64 source, u64 = 0, EMULATOR_CALL_SITE) {     \
    store_box<dimensions>(map, {__VA_ARGS__}, source, "cp.async.bulk.tensor." #dimensions "d",     \
                          file, line);                                                             \
  }
EMULATOR_PTX_BOX(1, (int x), x)
EMULATOR_PTX_BOX(2, (int x, int y), x, y)
EMULATOR_PTX_BOX(3, (int x, int y, int z), x, y, z)
EMULATOR_PTX_BOX(4, (int x, int y, int z, int w), x, y, z, w)
EMULATOR_PTX_BOX(5, (int x, int y, int z, int w, int v), x, y, z, w, v)
#undef EMULATOR_PTX_COORDINATES
#undef EMULATOR_PTX_BOX
EMULATOR_PTX void cp_async_bulk_shared_mbarrier_(u64 destination, u64 source, u32 bytes,
                                                 u64 barrier, u64 = 0, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.bulk", file, line};
  emulator_copy_bytes(shared(destination), global(source), bytes, barrier_at(shared(barrier)),
                      &site);
}
EMULATOR_PTX void cp_async_bulk_shared_bulk_group_(u64 destination, u64 source, u32 bytes, u64 = 0,
                                                   EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.bulk", file, line};
  emulator_store_bytes(global(destination), shared(source), bytes, &site);
}
EMULATOR_PTX void cp_async_bulk_commit_group_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.bulk.commit_group", file, line};
  emulator_store_commit(&site);
}
EMULATOR_PTX void cp_async_bulk_wait_group_(long long newest, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.bulk.wait_group", file, line};
  emulator_store_wait(static_cast<size_t>(newest), &site);
}
EMULATOR_PTX void cp_async_bulk_wait_group_read_(long long newest, EMULATOR_CALL_SITE) {
  cp_async_bulk_wait_group_(newest, file, line);
}
EMULATOR_PTX void prefetch_tensormap_(u64) {}

// ---- Roles --------------------------------------------------------------------------------------

// The last lane that is still there, as the lab's own elect_lane() has it, because the ISA does not say which one it is.
template <typename D>
EMULATOR_PTX void elect_(D &leader, bool &elected, u32 mask, EMULATOR_CALL_SITE) {
  const unsigned lanes = __ballot_sync(mask, 1, file, line);
  const unsigned last = 31 - static_cast<unsigned>(__builtin_clz(lanes));
  set(leader, last);
  elected = last == emulator_current->lane;
}
template <typename T>
EMULATOR_PTX void setmaxnreg_inc_(u32 registers, EMULATOR_CALL_SITE) {
  const emulator_site site = {"setmaxnreg.inc", file, line};
  emulator_take_registers(registers, &site);
}
template <typename T>
EMULATOR_PTX void setmaxnreg_dec_(u32 registers, EMULATOR_CALL_SITE) {
  const emulator_site site = {"setmaxnreg.dec", file, line};
  emulator_give_registers(registers, &site);
}

} // namespace ptx
} // namespace emulator

#endif

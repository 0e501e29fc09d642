// Stand-in for the PTX of common/kernel/hopper.cuh, which describes the
// functions. They call the runtime, because in the lab's own build the rewriter does not read headers.
#ifndef HOPPER_FUNCTIONS_H
#define HOPPER_FUNCTIONS_H

#include "cuda.h"
#include "cuda_runtime.h"

#include "barriers.h"
#include "box_copy.h"
#include "warpgroup.h"

typedef uint64_t barrier;

// Reports call a barrier by the words that the kernel has for it, so these two are macros as well.
inline void emulator_barrier_create(barrier *barrier, unsigned arrivals, const char *words,
                                    EMULATOR_CALL_SITE) {
  const emulator_site site = {"mbarrier.init", file, line};
  emulator_mbarrier_create(barrier, arrivals, words, &site);
}
template <int COUNT>
inline void emulator_barrier_create_all(barrier (&barriers)[COUNT], unsigned arrivals,
                                        const char *words, EMULATOR_CALL_SITE) {
  const emulator_site site = {"mbarrier.init", file, line};
  for (int i = 0; i < COUNT; i++) emulator_mbarrier_create(&barriers[i], arrivals, words, &site);
}
#define barrier_create(barrier, arrivals) emulator_barrier_create(barrier, arrivals, #barrier)
#define barrier_create_all(barriers, arrivals)                                                     \
  emulator_barrier_create_all(barriers, arrivals, #barriers "[]")

inline void barriers_created() { emulator_mbarrier_fence(); }

inline void barrier_arrive(barrier *barrier, EMULATOR_CALL_SITE) {
  const emulator_site site = {"mbarrier.arrive", file, line};
  emulator_mbarrier_arrive(barrier, 0, &site);
}

inline void barrier_arrive_expecting(barrier *barrier, unsigned bytes, EMULATOR_CALL_SITE) {
  const emulator_site site = {"mbarrier.arrive.expect_tx", file, line};
  emulator_mbarrier_arrive(barrier, bytes, &site);
}

inline void barrier_wait(barrier *barrier, unsigned parity, EMULATOR_CALL_SITE) {
  const emulator_site site = {"mbarrier.try_wait.parity", file, line};
  emulator_mbarrier_wait(barrier, parity, &site);
}

// Inlined, so that the code that calls the runtime belongs to a line of the kernel's source, for reports.
__forceinline__ void copy_box(void *smem, const CUtensorMap *map, barrier *barrier, int column,
                              int row, int head, int batch, EMULATOR_CALL_SITE) {
  const emulator_site site = {"cp.async.bulk.tensor.4d", file, line};
  const int coordinate[4] = {column, row, head, batch};
  emulator_copy_box(smem, map, coordinate, 4, barrier, &site);
}

inline void wgmma_fence(EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.fence", file, line};
  emulator_warpgroup_fence(&site);
}

inline void writes_for_wgmma(EMULATOR_CALL_SITE) {
  const emulator_site site = {"fence.proxy.async", file, line};
  emulator_proxy_fence(&site);
}

inline void reads_before_copies(EMULATOR_CALL_SITE) {
  const emulator_site site = {"fence.proxy.async", file, line};
  emulator_proxy_fence(&site);
}

inline void wgmma_commit(EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.commit_group", file, line};
  emulator_warpgroup_commit(&site);
}

// The wait may concern any of the registers of `d`; the parameter is there for the compiler.
template <int NEWEST, int COUNT>
inline void wgmma_wait(float (&)[COUNT], EMULATOR_CALL_SITE) {
  const emulator_site site = {"wgmma.wait_group", file, line};
  emulator_warpgroup_wait(NEWEST, &site);
}

inline void named_barrier_wait(int number, int threads, EMULATOR_CALL_SITE) {
  const emulator_site site = {"bar.sync", file, line};
  emulator_named_barrier_wait(number, threads, &site);
}
inline void named_barrier_arrive(int number, int threads, EMULATOR_CALL_SITE) {
  const emulator_site site = {"bar.arrive", file, line};
  emulator_named_barrier_arrive(number, threads, &site);
}
inline bool named_barrier_any(int number, int threads, bool value, EMULATOR_CALL_SITE) {
  const emulator_site site = {"bar.red.or", file, line};
  return emulator_named_barrier_any(number, threads, value, &site);
}

// The ISA does not say which lane is elected. It is not the first here, so that no kernel relies on that, but the last one
// that is still there: one lane that asks alone, after the others have left the kernel, is elected.
inline bool elect_lane(EMULATOR_CALL_SITE) {
  const unsigned lanes = __ballot_sync(0xffffffff, 1, file, line);
  return lanes >> threadIdx.x % 32 == 1;
}

template <int REGISTERS>
inline void give_registers(EMULATOR_CALL_SITE) {
  const emulator_site site = {"setmaxnreg.dec", file, line};
  emulator_give_registers(REGISTERS, &site);
}
template <int REGISTERS>
inline void take_registers(EMULATOR_CALL_SITE) {
  const emulator_site site = {"setmaxnreg.inc", file, line};
  emulator_take_registers(REGISTERS, &site);
}

#endif

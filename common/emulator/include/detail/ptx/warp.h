// Barriers, places in a cluster, votes, shuffles and special registers (PTX ISA 9.0, 9.7.9.8, 9.7.13 and 10).
#ifndef EMULATOR_DETAIL_PTX_WARP_H
#define EMULATOR_DETAIL_PTX_WARP_H

#include "../cluster_functions.h"
#include "../launcher.h"
#include "../warp_functions.h"
#include "barriers.h"
#include "device_launch_parameters.h"
#include "operands.h"

namespace emulator {
namespace ptx {

#define EMULATOR_PTX_SPECIAL(name, expression)                                                     \
  EMULATOR_PTX auto special_register_##name() { return expression; }
EMULATOR_PTX_SPECIAL(laneid, emulator_current->lane)
EMULATOR_PTX_SPECIAL(tid_x, threadIdx.x)
EMULATOR_PTX_SPECIAL(tid_y, threadIdx.y)
EMULATOR_PTX_SPECIAL(tid_z, threadIdx.z)
EMULATOR_PTX_SPECIAL(ntid_x, blockDim.x)
EMULATOR_PTX_SPECIAL(ntid_y, blockDim.y)
EMULATOR_PTX_SPECIAL(ntid_z, blockDim.z)
EMULATOR_PTX_SPECIAL(ctaid_x, blockIdx.x)
EMULATOR_PTX_SPECIAL(ctaid_y, blockIdx.y)
EMULATOR_PTX_SPECIAL(ctaid_z, blockIdx.z)
EMULATOR_PTX_SPECIAL(nctaid_x, gridDim.x)
EMULATOR_PTX_SPECIAL(nctaid_y, gridDim.y)
EMULATOR_PTX_SPECIAL(nctaid_z, gridDim.z)
EMULATOR_PTX_SPECIAL(warpid,
                     (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32)
EMULATOR_PTX_SPECIAL(nwarpid, 64u)
EMULATOR_PTX_SPECIAL(smid, 0u)
EMULATOR_PTX_SPECIAL(nsmid, 132u)
EMULATOR_PTX_SPECIAL(clock, static_cast<u32>(clock64()))
EMULATOR_PTX_SPECIAL(clock64, static_cast<u64>(clock64()))
EMULATOR_PTX_SPECIAL(globaltimer, static_cast<u64>(clock64()))
EMULATOR_PTX_SPECIAL(lanemask_eq, 1u << emulator_current->lane)
EMULATOR_PTX_SPECIAL(lanemask_lt, (1u << emulator_current->lane) - 1)
EMULATOR_PTX_SPECIAL(lanemask_le, (2u << emulator_current->lane) - 1)
EMULATOR_PTX_SPECIAL(lanemask_gt, ~((2u << emulator_current->lane) - 1))
EMULATOR_PTX_SPECIAL(lanemask_ge, ~((1u << emulator_current->lane) - 1))
EMULATOR_PTX_SPECIAL(cluster_ctarank, emulator_current->block->cluster_rank)
EMULATOR_PTX_SPECIAL(cluster_nctarank, __clusterSizeInBlocks())
EMULATOR_PTX_SPECIAL(cluster_ctaid_x, __clusterRelativeBlockIdx().x)
EMULATOR_PTX_SPECIAL(cluster_ctaid_y, __clusterRelativeBlockIdx().y)
EMULATOR_PTX_SPECIAL(cluster_ctaid_z, __clusterRelativeBlockIdx().z)
EMULATOR_PTX_SPECIAL(cluster_nctaid_x, __clusterDim().x)
EMULATOR_PTX_SPECIAL(cluster_nctaid_y, __clusterDim().y)
EMULATOR_PTX_SPECIAL(cluster_nctaid_z, __clusterDim().z)
EMULATOR_PTX_SPECIAL(clusterid_x, __clusterIdx().x)
EMULATOR_PTX_SPECIAL(clusterid_y, __clusterIdx().y)
EMULATOR_PTX_SPECIAL(clusterid_z, __clusterIdx().z)
EMULATOR_PTX_SPECIAL(nclusterid_x, __clusterGridDimInClusters().x)
EMULATOR_PTX_SPECIAL(nclusterid_y, __clusterGridDimInClusters().y)
EMULATOR_PTX_SPECIAL(nclusterid_z, __clusterGridDimInClusters().z)
#undef EMULATOR_PTX_SPECIAL

// ---- Barriers -----------------------------------------------------------------------------------

EMULATOR_PTX void bar_(long long number, EMULATOR_CALL_SITE) {
  if (number == 0) {
    __syncthreads(file, line);
    return;
  }
  const emulator_site site = {"bar.sync", file, line};
  emulator_named_barrier_wait(
      static_cast<int>(number),
      static_cast<int>((blockDim.x * blockDim.y * blockDim.z + 31) / 32 * 32), &site);
}
EMULATOR_PTX void bar_of(long long number, long long threads, bool waits, const char *file,
                         int line) {
  const emulator_site site = {waits ? "bar.sync" : "bar.arrive", file, line};
  if (waits)
    emulator_named_barrier_wait(static_cast<int>(number), static_cast<int>(threads), &site);
  else
    emulator_named_barrier_arrive(static_cast<int>(number), static_cast<int>(threads), &site);
}
template <typename Threads, std::enable_if_t<std::is_integral_v<Threads>, int> = 0>
EMULATOR_PTX void bar_(long long number, Threads threads, EMULATOR_CALL_SITE) {
  bar_of(number, static_cast<long long>(threads), true, file, line);
}
EMULATOR_PTX void bar_arrive_(long long number, long long threads, EMULATOR_CALL_SITE) {
  bar_of(number, threads, false, file, line);
}
template <typename... Operands>
EMULATOR_PTX void barrier_(Operands... operands) {
  bar_(operands...);
}
// Whether the value is true in any of the threads, or in all of them.
EMULATOR_PTX bool any_at_barrier(long long number, long long threads, bool value,
                                 const char *operation, const char *file, int line) {
  if (number == 0) return __syncthreads_or(value, file, line) != 0;
  const emulator_site site = {operation, file, line};
  return emulator_named_barrier_any(static_cast<int>(number), static_cast<int>(threads), value,
                                    &site);
}
template <typename T>
EMULATOR_PTX void bar_red_or_(bool &d, long long number, long long threads, bool value,
                              EMULATOR_CALL_SITE) {
  d = any_at_barrier(number, threads, value, "bar.red.or", file, line);
}
template <typename T>
EMULATOR_PTX void bar_red_and_(bool &d, long long number, long long threads, bool value,
                               EMULATOR_CALL_SITE) {
  d = !any_at_barrier(number, threads, !value, "bar.red.and", file, line);
}
EMULATOR_PTX void barrier_cluster_arrive_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"barrier.cluster.arrive", file, line};
  emulator_cluster_arrive(&site);
}
EMULATOR_PTX void barrier_cluster_arrive_relaxed_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"barrier.cluster.arrive.relaxed", file, line};
  emulator_cluster_arrive_relaxed(&site);
}
EMULATOR_PTX void barrier_cluster_wait_(EMULATOR_CALL_SITE) {
  const emulator_site site = {"barrier.cluster.wait", file, line};
  emulator_cluster_wait(&site);
}
EMULATOR_PTX void bar_warp_(unsigned mask, EMULATOR_CALL_SITE) { __syncwarp(mask, file, line); }
EMULATOR_PTX void nanosleep_(long long) { emulator_yield(); }
EMULATOR_PTX void griddepcontrol_wait_() { cudaGridDependencySynchronize(); }
EMULATOR_PTX void griddepcontrol_launch_dependents_() { cudaTriggerProgrammaticLaunchCompletion(); }
EMULATOR_PTX void trap_() { __trap(); }
EMULATOR_PTX void exit_() { throw thread_exit{}; }

// ---- Lanes --------------------------------------------------------------------------------------

EMULATOR_PTX void vote_all_pred_of(bool &d, bool p, unsigned mask) { d = __all_sync(mask, p); }
template <typename T, typename D>
EMULATOR_PTX void vote_ballot_(D &d, bool p, unsigned mask, EMULATOR_CALL_SITE) {
  set(d, __ballot_sync(mask, p, file, line));
}
template <typename T>
EMULATOR_PTX void vote_any_(bool &d, bool p, unsigned mask, EMULATOR_CALL_SITE) {
  d = __any_sync(mask, p, file, line) != 0;
}
template <typename T>
EMULATOR_PTX void vote_all_(bool &d, bool p, unsigned mask, EMULATOR_CALL_SITE) {
  d = __all_sync(mask, p, file, line) != 0;
}
template <typename T, typename D>
EMULATOR_PTX void activemask_(D &d, EMULATOR_CALL_SITE) {
  set(d, __activemask(file, line));
}

// Operand c holds the last lane that a lane may read (the first one of .up) in bits 0 to 4, and in bits 8 to 12 which
// bits of the lane's number it shares with its segment (9.7.9.6). The second result says whether the lane was in range.
#define EMULATOR_PTX_SHUFFLE(name, sought, in_range)                                               \
  template <typename T, typename D, typename A>                                                    \
  EMULATOR_PTX void shfl_##name##_(D &d, bool &p, const A &a, unsigned b, unsigned c,              \
                                   unsigned mask, EMULATOR_CALL_SITE) {                            \
    const unsigned own = emulator_current->lane, segment = c >> 8 & 31;                            \
    const unsigned first = own & segment, bound = first | (c & 31 & ~segment), b5 = b & 31;        \
    const unsigned lane = sought;                                                                  \
    (void)first, p = in_range;                                                                     \
    const emulator_site site = {"shfl.sync." #name, file, line};                                   \
    const unsigned value = as<unsigned>(a);                                                        \
    unsigned result;                                                                               \
    emulator_shuffle(mask, &value, &result, sizeof result, p ? lane : own, &site);                 \
    set(d, result);                                                                                \
  }                                                                                                \
  template <typename T, typename D, typename A>                                                    \
  EMULATOR_PTX void shfl_##name##_(D &d, const A &a, unsigned b, unsigned c, unsigned mask,        \
                                   EMULATOR_CALL_SITE) {                                           \
    bool found;                                                                                    \
    shfl_##name##_<T>(d, found, a, b, c, mask, file, line);                                        \
  }
EMULATOR_PTX_SHUFFLE(idx, first | (b5 & ~segment), lane <= bound)
EMULATOR_PTX_SHUFFLE(up, own - b5, static_cast<int>(lane) >= static_cast<int>(bound))
EMULATOR_PTX_SHUFFLE(down, own + b5, lane <= bound)
EMULATOR_PTX_SHUFFLE(bfly, own ^ b5, lane <= bound)
#undef EMULATOR_PTX_SHUFFLE

#define EMULATOR_PTX_REDUX(name)                                                                   \
  template <typename T, typename D, typename A>                                                    \
  EMULATOR_PTX void redux_##name##_(D &d, const A &a, unsigned mask, EMULATOR_CALL_SITE) {         \
    set(d, __reduce_##name##_sync(mask, as<T>(a), file, line));                                    \
  }
EMULATOR_PTX_REDUX(add)
EMULATOR_PTX_REDUX(min)
EMULATOR_PTX_REDUX(max)
EMULATOR_PTX_REDUX(and)
EMULATOR_PTX_REDUX(or)
EMULATOR_PTX_REDUX(xor)
#undef EMULATOR_PTX_REDUX

} // namespace ptx
} // namespace emulator

#endif

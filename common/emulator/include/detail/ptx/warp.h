// Barriers, votes, shuffles and special registers (PTX ISA 9.0, 9.7.9.8, 9.7.13 and 10).
#ifndef EMULATOR_DETAIL_PTX_WARP_H
#define EMULATOR_DETAIL_PTX_WARP_H

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
EMULATOR_PTX void bar_warp_(unsigned mask, EMULATOR_CALL_SITE) { __syncwarp(mask, file, line); }
EMULATOR_PTX void nanosleep_(long long) { emulator_yield(); }
EMULATOR_PTX void trap_() { __trap(); }

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

// Operand c holds the width, as 32 - width in bits 8 to 12 (9.7.9.6); the functions of CUDA take the width.
EMULATOR_PTX int shuffle_width(unsigned c) { return 32 - static_cast<int>(c >> 8 & 31); }
#define EMULATOR_PTX_SHUFFLE(name, function)                                                       \
  template <typename T, typename D, typename A>                                                    \
  EMULATOR_PTX void shfl_##name##_(D &d, const A &a, unsigned b, unsigned c, unsigned mask,        \
                                   EMULATOR_CALL_SITE) {                                           \
    set(d, function(mask, as<unsigned>(a), b, shuffle_width(c), file, line));                      \
  }
EMULATOR_PTX_SHUFFLE(idx, __shfl_sync)
EMULATOR_PTX_SHUFFLE(up, __shfl_up_sync)
EMULATOR_PTX_SHUFFLE(down, __shfl_down_sync)
EMULATOR_PTX_SHUFFLE(bfly, __shfl_xor_sync)
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

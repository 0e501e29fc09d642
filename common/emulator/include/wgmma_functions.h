// Stand-in for the PTX of common/kernel/wgmma.cuh, which describes the products. They call the runtime.
#ifndef WGMMA_FUNCTIONS_H
#define WGMMA_FUNCTIONS_H
#include "detail/own_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#include "detail/fragment.h"
#include "warpgroup.h"

// Returns the place in the machine code, which differs from copy to copy of an inlined function. On processors other
// than x86-64 and AArch64 it is NULL, and copies are not told apart.
inline __attribute__((always_inline)) const void *emulator_place(void) {
  const void *place = nullptr;
#ifdef __x86_64__
  asm volatile("lea 0(%%rip), %0" : "=r"(place));
#elif defined __aarch64__
  asm volatile("adr %0, ." : "=r"(place));
#endif
  return place;
}

template <typename Element, int N>
struct wgmma {
  static_assert(sizeof(Element) == 2, "A and B are half or __nv_bfloat16");

  __attribute__((always_inline)) static void shared(float (&d)[N / 2], uint64_t a, uint64_t b,
                                                    bool clear, EMULATOR_CALL_SITE) {
    start(
        {emulator::fragment_element<Element>, N, d, nullptr, a, b, false, clear, emulator_place()},
        file, line);
  }
  __attribute__((always_inline)) static void registers(float (&d)[N / 2], const unsigned *a,
                                                       uint64_t b, bool clear, EMULATOR_CALL_SITE) {
    start({emulator::fragment_element<Element>, N, d, a, 0, b, true, clear, emulator_place()}, file,
          line);
  }

private:
  static void start(const emulator_warpgroup_product &product, const char *file, int line) {
    const emulator_site site = {"wgmma.mma_async", file, line};
    emulator_warpgroup_multiply(&product, &site);
  }
};

#include "detail/own_letters_end.h"

#endif

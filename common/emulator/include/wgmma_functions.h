// Stand-in for the PTX of common/kernel/wgmma.cuh, which describes the products. They call the runtime.
#ifndef WGMMA_FUNCTIONS_H
#define WGMMA_FUNCTIONS_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#include "detail/fragment.h"
#include "warpgroup.h"

template <typename Element, int N>
struct wgmma {
  static_assert(sizeof(Element) == 2, "A and B are half or __nv_bfloat16");

  static void shared(float (&d)[N / 2], uint64_t a, uint64_t b, bool clear, EMULATOR_CALL_SITE) {
    start({emulator::fragment_element<Element>, N, d, nullptr, a, b, false, clear}, file, line);
  }
  static void registers(float (&d)[N / 2], const unsigned *a, uint64_t b, bool clear,
                        EMULATOR_CALL_SITE) {
    start({emulator::fragment_element<Element>, N, d, a, 0, b, true, clear}, file, line);
  }

private:
  static void start(const emulator_warpgroup_product &product, const char *file, int line) {
    const emulator_site site = {"wgmma.mma_async", file, line};
    emulator_warpgroup_multiply(&product, &site);
  }
};

#endif

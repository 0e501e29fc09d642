// Stand-in for the lab's own PTX: common/kernel/ptx.cuh describes the functions, with
// shapes and layouts. They call the runtime, because in the lab's own build the rewriter does not read headers.
#ifndef PTX_FUNCTIONS_H
#define PTX_FUNCTIONS_H
#include "detail/own_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#include "detail/fragment.h"

inline unsigned shared_address(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Exact to half a unit in the last place, the instruction to 2; a result is never subnormal in either.
inline float exp2_approximate(float x) { return x < -126.0f ? 0.0f : exp2f(x); }

inline unsigned long long add_and_acquire(unsigned long long *to, unsigned long long number) {
  const unsigned long long before = atomicAdd(to, number);
  emulator::acquire();
  return before;
}

inline void load_matrices(unsigned (&fragments)[4], const void *row, EMULATOR_CALL_SITE) {
  const emulator_site site = {"ldmatrix", file, line};
  emulator_load_matrices(fragments, row, false, &site);
}

inline void load_matrices_transposed(unsigned (&fragments)[4], const void *row,
                                     EMULATOR_CALL_SITE) {
  const emulator_site site = {"ldmatrix.trans", file, line};
  emulator_load_matrices(fragments, row, true, &site);
}

template <typename Element>
inline void multiply_fragments(float *d, const unsigned *a, const unsigned *b, EMULATOR_CALL_SITE) {
  static_assert(sizeof(Element) == 2, "A and B are half or __nv_bfloat16");
  const emulator_site site = {"mma.sync", file, line};
  const emulator_fragment_product product = {a, {b[0], b[1]}, d, d};
  emulator_multiply_fragments(emulator::fragment_element<Element>, &product, &site);
}

#include "detail/own_letters_end.h"

#endif

// wgmma, the product of a warp group on the tensor cores, has one function here for each kind of operand and
// each width.
//
// Queues D [64, N] = A [64, 16] B [16, N] + D, asynchronously. Warp w of the four owns rows 16 w to 16 w +
// 15. A lane holds the same elements of each 16 x 8 fragment of D as after mma.sync (ptx.cuh); elements 4 n
// to 4 n + 3 of `d` belong to fragment n. If `clear` is set, D counts as 0 before. matrix_descriptor in
// hopper.cuh makes descriptors. PTX ISA 9.0, 9.7.15, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions".
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#ifndef __CUDACC__
#include "wgmma_functions.h" // of the emulator: the same functions, without PTX
#else

// The registers of D as a list of names in PTX and as a list of operands in C++, put together from tens and a rest.
#define WGMMA_NAMES_2(t)  "%" #t "0, %" #t "1"
#define WGMMA_NAMES_4(t)  WGMMA_NAMES_2(t) ", %" #t "2, %" #t "3"
#define WGMMA_NAMES_6(t)  WGMMA_NAMES_4(t) ", %" #t "4, %" #t "5"
#define WGMMA_NAMES_8(t)  WGMMA_NAMES_6(t) ", %" #t "6, %" #t "7"
#define WGMMA_NAMES_10(t) WGMMA_NAMES_8(t) ", %" #t "8, %" #t "9"
#define WGMMA_NAMES_30    WGMMA_NAMES_10() ", " WGMMA_NAMES_10(1) ", " WGMMA_NAMES_10(2) ", "
#define WGMMA_NAMES_60                                                                             \
  WGMMA_NAMES_30 WGMMA_NAMES_10(3) ", " WGMMA_NAMES_10(4) ", " WGMMA_NAMES_10(5) ", "
#define WGMMA_REGISTERS_32 WGMMA_NAMES_30 WGMMA_NAMES_2(3)
#define WGMMA_REGISTERS_36 WGMMA_NAMES_30 WGMMA_NAMES_6(3)
#define WGMMA_REGISTERS_64 WGMMA_NAMES_60 WGMMA_NAMES_4(6)
#define WGMMA_REGISTERS_68 WGMMA_NAMES_60 WGMMA_NAMES_8(6)

#define WGMMA_D_2(t)      "+f"(d[t##0]), "+f"(d[t##1])
#define WGMMA_D_4(t)      WGMMA_D_2(t), "+f"(d[t##2]), "+f"(d[t##3])
#define WGMMA_D_6(t)      WGMMA_D_4(t), "+f"(d[t##4]), "+f"(d[t##5])
#define WGMMA_D_8(t)      WGMMA_D_6(t), "+f"(d[t##6]), "+f"(d[t##7])
#define WGMMA_D_10(t)     WGMMA_D_8(t), "+f"(d[t##8]), "+f"(d[t##9])
#define WGMMA_D_30        WGMMA_D_10(), WGMMA_D_10(1), WGMMA_D_10(2)
#define WGMMA_D_60        WGMMA_D_30, WGMMA_D_10(3), WGMMA_D_10(4), WGMMA_D_10(5)
#define WGMMA_OPERANDS_32 WGMMA_D_30, WGMMA_D_2(3)
#define WGMMA_OPERANDS_36 WGMMA_D_30, WGMMA_D_6(3)
#define WGMMA_OPERANDS_64 WGMMA_D_60, WGMMA_D_4(6)
#define WGMMA_OPERANDS_68 WGMMA_D_60, WGMMA_D_8(6)

// The products of one element type with N columns, which take N / 2 registers of each lane: `shared` reads A
// from shared memory, `registers` reads it from four registers of each lane.
template <typename Element, int N>
struct wgmma;

// shared takes A [64, 16] and B^T [N, 16] of shared memory, 16 elements of a row side by side (0, 0: not transposed).
// registers takes A in the fragments of mma.sync, and B [16, N] of shared memory, by rows (the last 1: transposed).
#define WGMMA_OF(Element, type, N, COUNT, A0, A1, A2, A3, B, CLEAR, B_SHARED, CLEAR_SHARED)        \
  template <>                                                                                      \
  struct wgmma<Element, N> {                                                                       \
    static __device__ __forceinline__ void shared(float (&d)[COUNT], uint64_t a, uint64_t b,       \
                                                  bool clear) {                                    \
      asm volatile("{.reg .pred add; setp.eq.s32 add, %" CLEAR_SHARED ", 0;\n"                     \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                 \
                   " {" WGMMA_REGISTERS_##COUNT "}, %" A0 ", %" B_SHARED ", add, 1, 1, 0, 0;}"     \
                   : WGMMA_OPERANDS_##COUNT                                                        \
                   : "l"(a), "l"(b), "r"((int)clear));                                             \
    }                                                                                              \
    static __device__ __forceinline__ void registers(float (&d)[COUNT], const unsigned *a,         \
                                                     uint64_t b, bool clear) {                     \
      asm volatile("{.reg .pred add; setp.eq.s32 add, %" CLEAR ", 0;\n"                            \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." type "." type                 \
                   " {" WGMMA_REGISTERS_##COUNT "}, {%" A0 ", %" A1 ", %" A2 ", %" A3 "}, %" B     \
                                                ", add, 1, 1, 1;}"                                 \
                   : WGMMA_OPERANDS_##COUNT                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)clear));         \
    }                                                                                              \
  };
// The lines below name N, N / 2, and the numbers of the operands that come after those of D.
#define WGMMA_OF_BOTH(...)                                                                         \
  WGMMA_OF(half, "f16", __VA_ARGS__) WGMMA_OF(__nv_bfloat16, "bf16", __VA_ARGS__)
WGMMA_OF_BOTH(64, 32, "32", "33", "34", "35", "36", "37", "33", "34")
WGMMA_OF_BOTH(72, 36, "36", "37", "38", "39", "40", "41", "37", "38")
WGMMA_OF_BOTH(128, 64, "64", "65", "66", "67", "68", "69", "65", "66")
WGMMA_OF_BOTH(136, 68, "68", "69", "70", "71", "72", "73", "69", "70")
#undef WGMMA_OF_BOTH
#undef WGMMA_OF

#endif // __CUDACC__

#endif

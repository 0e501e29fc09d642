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

#define WGMMA_REGISTERS_32                                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_OPERANDS_32                                                                          \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),  \
      "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),     \
      "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),   \
      "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),   \
      "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define WGMMA_REGISTERS_64                                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_OPERANDS_64                                                                          \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),  \
      "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]),     \
      "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),   \
      "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]),   \
      "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),   \
      "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]),   \
      "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]),   \
      "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),   \
      "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])

// The products of one element type with N columns, which take N / 2 registers of each lane: `shared` reads A
// from shared memory, `registers` reads it from four registers of each lane.
template <typename Element, int N>
struct wgmma;

// shared: A [64, 16] and B^T [N, 16] in shared memory, 16 consecutive in a row.
// registers: A in the fragments of mma.sync, B [16, N] in shared memory, N consecutive in a row.
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
WGMMA_OF(half, "f16", 64, 32, "32", "33", "34", "35", "36", "37", "33", "34")
WGMMA_OF(half, "f16", 128, 64, "64", "65", "66", "67", "68", "69", "65", "66")
WGMMA_OF(__nv_bfloat16, "bf16", 64, 32, "32", "33", "34", "35", "36", "37", "33", "34")
WGMMA_OF(__nv_bfloat16, "bf16", 128, 64, "64", "65", "66", "67", "68", "69", "65", "66")
#undef WGMMA_OF

#endif // __CUDACC__

#endif

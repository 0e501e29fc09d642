// CUDA's words for functions and variables, in C++.
#ifndef EMULATOR_DETAIL_QUALIFIERS_H
#define EMULATOR_DETAIL_QUALIFIERS_H

// A kernel differs from other functions by its visibility, which stays in the symbol table:
// runtime/kernels.c finds all kernels of a module there, including those that are never launched.
// scripts/nvcc-cpu asks for whole kernels where the emulator watches: those that have all functions that they call inline,
// as nvcc makes them. g++ does not tell of a store that a call makes by itself, as in `tile[i] = row_of(in)` where the
// result is a struct.
#ifdef EMULATOR_WHOLE_KERNELS
#define __global__ __attribute__((visibility("protected"), flatten))
#else
#define __global__ __attribute__((visibility("protected")))
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
// The rewriter takes the word away (rewrite/cluster_dims.h), but does not see headers and macros, unless the preprocessor
// has been there before. The launch of a kernel that still has it is an error with this sentence.
#ifdef CUDA_RUNTIME_H
#define __cluster_dims__(...)                                                                      \
  __attribute__((unavailable("the emulator sees no __cluster_dims__ in a macro or a header: "      \
                             "write it in the .cu file, or launch the kernel with "                \
                             "cudaLaunchKernelEx and cudaLaunchAttributeClusterDimension")))
#else
#define __cluster_dims__(...)
#endif
// The same holds for this word (rewrite/grid_constant.h). A kernel that uses a parameter which still has it is an error.
#ifdef CUDA_RUNTIME_H
#define __grid_constant__                                                                          \
  __attribute__((unavailable("the emulator sees no __grid_constant__ in a macro or a header: "     \
                             "write the kernel in the .cu file")))
#else
#define __grid_constant__
#endif
#define __align__(bytes) __attribute__((aligned(bytes)))
// An emulator that watches optimised kernels needs their functions inline: its reports name the lines of the callers,
// and counting follows the order of the code. Otherwise the compiler chooses, and takes up to 40 % less time.
#if defined __SANITIZE_THREAD__ && defined __OPTIMIZE__
#define __forceinline__ inline __attribute__((always_inline))
#else
#define __forceinline__ inline
#endif
// It is empty, because libstdc++ writes __attribute__((__noinline__)), which must still compile.
#define __noinline__
// There is one for each OS thread, and so one for each running block. __constinit keeps g++ from guarding
// arrays of half or float4 against a second initialisation, since they have none. clang++ needs no keyword.
#ifdef __clang__
#define __shared__ __attribute__((aligned(128))) thread_local
#else
#define __shared__ __attribute__((aligned(128))) __constinit thread_local
#endif

#endif

// Stand-in for CUDA's <cuda_runtime.h>: the kernel language on a CPU. It is written from the CUDA
// C++ Programming Guide and the CUDA Math API reference. A C program sees only the host functions.
//
// Host and device code are one program here and are compiled in one pass:
// __CUDA_ARCH__ is not defined, and code that tests it takes its host branch.
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus
// Include these before the macros below, which redefine names that the standard headers use.
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

// ---- Qualifiers ---------------------------------------------------------------------------------

// A kernel differs from other functions by its visibility, which stays in the symbol table:
// runtime/kernels.c finds all kernels of a module there, including those that are never launched.
#define __global__ __attribute__((visibility("protected")))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
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

// assert() calls __assert_fail, whichever of the two headers comes first.
#define __assert_fail emulator_assert_fail

#include "device_launch_parameters.h"

#include "detail/address_functions.h"
#include "detail/atomic_functions.h"
#include "detail/host_overloads.h"
#include "detail/intrinsics.h"
#include "detail/lacking_functions.h"
#include "detail/launcher.h"
#include "detail/math_functions.h"
#include "detail/synchronization.h"
#include "detail/warp_functions.h"

#endif
#endif

// Stand-in for CUDA's <cuda_runtime.h>: the kernel language on a CPU. It is written from the CUDA
// C++ Programming Guide and the CUDA Math API reference. A C program sees only the host functions.
//
// Host and device code are one program here and are compiled in one pass:
// __CUDA_ARCH__ is not defined, and code that tests it takes its host branch.
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H
#include "detail/own_letters.h"

// The macros by which other headers, such as helper_cuda.h, know CUDA's.
#define __CUDA_RUNTIME_H__

#ifdef __cplusplus
#include "detail/byte_functions.h"
#endif

#include "cuda_runtime_api.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __cplusplus
// Include these before the macros below, which redefine names that the standard headers use.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

// ---- Qualifiers ---------------------------------------------------------------------------------

// In a source that is rewritten after the preprocessor (rewrite/rewrite.h) they must still be words for the rewriter.
// They become C++ in the compiler's pass.
#ifndef EMULATOR_REWRITES_LATER
#include "detail/qualifiers.h"
#endif

// assert() calls __assert_fail, whichever of the two headers comes first.
#define __assert_fail emulator_assert_fail

#include "device_launch_parameters.h"

#include "detail/address_functions.h"
#include "detail/atomic_functions.h"
#include "detail/cluster_functions.h"
#include "detail/heap_functions.h"
#include "detail/host_overloads.h"
#include "detail/intrinsics.h"
#include "detail/lacking_functions.h"
#include "detail/launcher.h"
#include "detail/packed_integers.h"
#include "detail/rounded_functions.h"
#include "detail/synchronization.h"
#include "detail/warp_functions.h"
// A file for the host alone may have functions of these names, as helper_math.h of the CUDA samples has.
#ifndef EMULATOR_HOST_FILE
#include "detail/math_functions.h"
#endif

#endif

#include "detail/own_letters_end.h"

#endif

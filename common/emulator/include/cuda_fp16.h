// Stand-in for CUDA's <cuda_fp16.h>: half and half2. Their operations,
// which bf16 shares, are in detail/number16.h and detail/number16_pair.h.
#ifndef CUDA_FP16_H
#define CUDA_FP16_H

#include "cuda_runtime.h"

#ifdef __cplusplus
#include "detail/number16_pair.h"

using __half = emulator::number16<emulator::fp16_format>;
using __half2 = emulator::number16_pair<emulator::fp16_format>;
using __half_raw = emulator::number16_raw<emulator::fp16_format>;
using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;

#define EMULATOR_NAME   half
#define EMULATOR_NUMBER __half
#define EMULATOR_PAIR   __half2
#include "detail/number16_names.h"

#define CUDART_INF_FP16        __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16        __ushort_as_half(0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_NEG_ZERO_FP16   __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16       __ushort_as_half(0x0000)
#define CUDART_ONE_FP16        __ushort_as_half(0x3c00)
#endif

#endif

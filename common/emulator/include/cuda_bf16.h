// Stand-in for CUDA's <cuda_bf16.h>: __nv_bfloat16 and __nv_bfloat162. Their
// operations, which fp16 shares, are in detail/number16.h and detail/number16_pair.h.
#ifndef CUDA_BF16_H
#define CUDA_BF16_H

#include "cuda_runtime.h"

#ifdef __cplusplus
#include "detail/number16_pair.h"

using __nv_bfloat16 = emulator::number16<emulator::bf16_format>;
using __nv_bfloat162 = emulator::number16_pair<emulator::bf16_format>;
using __nv_bfloat16_raw = emulator::number16_raw<emulator::bf16_format>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define EMULATOR_NAME   bfloat16
#define EMULATOR_NUMBER __nv_bfloat16
#define EMULATOR_PAIR   __nv_bfloat162
#include "detail/number16_names.h"

#define CUDART_INF_BF16        __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16        __ushort_as_bfloat16(0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_NEG_ZERO_BF16   __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16       __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16        __ushort_as_bfloat16(0x3f80)
#endif

#endif

// Stand-in for CUDA's <cuda.h>: the driver API, with CUDA's names and values. Here are its tensor maps (CUDA Driver API
// reference, "Tensor Map Object Management") and the write of a word by a stream, which a program gets from
// cudaGetDriverEntryPointByVersion as well, as it would with the driver. The rest is in detail/driver_functions.h. C17
// and C++17.
#ifndef CUDA_H
#define CUDA_H

// The macros by which other headers, such as helper_cuda.h, know CUDA's.
#define __cuda_cuda_h__

#include "cuda_runtime_api.h"

#include <stdint.h>

#include "detail/driver_types.h"

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

// Describes a tensor to the copy engine. Only cuTensorMapEncodeTiled knows its contents.
typedef struct CUtensorMap_st {
  cuuint64_t opaque[16] __attribute__((aligned(64)));
} CUtensorMap;

typedef enum CUtensorMapDataType_enum {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
} CUtensorMapDataType;

typedef enum CUtensorMapInterleave_enum {
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_INTERLEAVE_16B,
  CU_TENSOR_MAP_INTERLEAVE_32B
} CUtensorMapInterleave;

typedef enum CUtensorMapSwizzle_enum {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B
} CUtensorMapSwizzle;

typedef enum CUtensorMapL2promotion_enum {
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;

typedef enum CUtensorMapFloatOOBfill_enum {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;

#ifdef __cplusplus
extern "C" {
#endif

#include "detail/driver_functions.h"

// Describes a tensor of `rank` dimensions, the first one contiguous, for copies of boxes of it. Sizes
// and strides are as in the driver: globalStrides, in bytes, begin with the second dimension. Returns
// CUDA_ERROR_INVALID_VALUE for arguments that the driver refuses, and says why on stderr, which the
// driver does not. Returns CUDA_ERROR_NOT_SUPPORTED, with a sentence, for a GPU without copy engine
// (EMU_GPU) and for features that the emulator lacks: interleaved layouts, element strides other than
// 1, fills with NaN, and swizzles of a box that is narrower than the swizzle's span.
EMULATOR_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const cuuint32_t *boxDim, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill);

// Writes a word of device memory when the stream has come so far. Flags other than 0 are not supported.
EMULATOR_API CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                           unsigned int flags);

#ifdef __cplusplus
}

// CUDA 12 and before had no second parameter.
inline CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device) {
  return cuCtxCreate(context, (CUctxCreateParams *)0, flags, device);
}
#endif

#endif

// Encodes tensor maps, and refuses the arguments that the driver refuses (CUDA
// Driver API reference, cuTensorMapEncodeTiled), with a sentence on stderr.
#define _GNU_SOURCE
#include "tensor_map.h"

#include "gpu.h"
#include "swizzle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static CUresult refuse(CUresult result, const char *format,
                                                             ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr);
  fputs("========= cuTensorMapEncodeTiled: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
  va_end(arguments);
  return result;
}

#define INVALID(...)     return refuse(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define UNSUPPORTED(...) return refuse(CUDA_ERROR_NOT_SUPPORTED, __VA_ARGS__)

static unsigned element_bytes(CUtensorMapDataType type) {
  switch (type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32: return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
  }
  return 0;
}

// The bytes that a swizzle shuffles; 0 for a value that is no swizzle.
static unsigned swizzle_span(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
  case CU_TENSOR_MAP_SWIZZLE_NONE: return SWIZZLE_PIECE;
  case CU_TENSOR_MAP_SWIZZLE_32B: return 32;
  case CU_TENSOR_MAP_SWIZZLE_64B: return 64;
  case CU_TENSOR_MAP_SWIZZLE_128B: return 128;
  }
  return 0;
}

static CUresult check_dimensions(const tensor_map *map, const cuuint64_t *sizes,
                                 const cuuint64_t *strides, const cuuint32_t *box,
                                 const cuuint32_t *element_strides) {
  for (unsigned i = 0; i < map->rank; i++) {
    if (sizes[i] == 0 || sizes[i] > UINT64_C(1) << 32)
      INVALID("size %u of the tensor is %" PRIu64 ": give 1 to 2^32", i, sizes[i]);
    if (box[i] == 0 || box[i] > 256)
      INVALID("size %u of the box is %" PRIu32 ": give 1 to 256", i, box[i]);
    if (element_strides[i] == 0 || element_strides[i] > 8)
      INVALID("element stride %u is %" PRIu32 ": give 1 to 8", i, element_strides[i]);
    if (element_strides[i] != 1)
      UNSUPPORTED("element stride %u is %" PRIu32 ": the emulator has only 1", i,
                  element_strides[i]);
  }
  for (unsigned i = 0; i + 1 < map->rank; i++) {
    if (strides[i] % 16 != 0 || strides[i] >= UINT64_C(1) << 40)
      INVALID("the stride of dimension %u is %" PRIu64 " bytes: give a multiple of 16 below 2^40",
              i + 1, strides[i]);
  }
  return CUDA_SUCCESS;
}

static CUresult check_layout(const tensor_map *map, CUtensorMapInterleave interleave,
                             CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  const unsigned row_bytes = tensor_map_row_bytes(map), span = map->span;
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    UNSUPPORTED("the emulator has no interleaved layouts");
  if (row_bytes % 16 != 0)
    INVALID("a row of the box has %u bytes: give a multiple of 16", row_bytes);
  if (span == 0) INVALID("%d is no CUtensorMapSwizzle", (int)swizzle);
  const bool shuffled = swizzle != CU_TENSOR_MAP_SWIZZLE_NONE;
  if (shuffled && row_bytes > span)
    INVALID("a row of the box has %u bytes, more than the %u of the swizzle", row_bytes, span);
  if (shuffled && row_bytes != span)
    UNSUPPORTED(
        "a row of the box has %u bytes: the emulator shuffles rows of the swizzle's %u alone",
        row_bytes, span);
  if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) UNSUPPORTED("the emulator fills with zeros alone");
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void *globalAddress,
                                const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
  const gpu *gpu = gpu_selected();
  if (gpu->major < 9)
    UNSUPPORTED(
        "the %s has compute capability %d.%d, and the copy engine came with 9.0: set EMU_GPU "
        "to h200",
        gpu->name, gpu->major, gpu->minor);
  if (tensorMap == NULL || (uintptr_t)tensorMap % 64 != 0)
    INVALID("the tensor map must begin at a multiple of 64 bytes");
  if (globalDim == NULL || globalStrides == NULL || boxDim == NULL || elementStrides == NULL)
    INVALID("an argument is NULL");
  if (tensorRank == 0 || tensorRank > TENSOR_RANK_MAX)
    INVALID("the tensor has %" PRIu32 " dimensions: give 1 to %d", tensorRank, TENSOR_RANK_MAX);
  if (globalAddress == NULL || (uintptr_t)globalAddress % 16 != 0)
    INVALID("the tensor is at %p: give a multiple of 16", globalAddress);
  if (l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
    INVALID("%d is no CUtensorMapL2promotion", (int)l2Promotion);
  tensor_map map = {.mark = TENSOR_MAP_MARK,
                    .address = (uintptr_t)globalAddress,
                    .rank = (uint8_t)tensorRank,
                    .element_bytes = (uint8_t)element_bytes(tensorDataType),
                    .span = (uint8_t)swizzle_span(swizzle)};
  if (map.element_bytes == 0) INVALID("%d is no CUtensorMapDataType", (int)tensorDataType);
  CUresult result = check_dimensions(&map, globalDim, globalStrides, boxDim, elementStrides);
  if (result != CUDA_SUCCESS) return result;
  for (unsigned i = 0; i < map.rank; i++) {
    map.last[i] = (uint32_t)(globalDim[i] - 1);
    map.box[i] = (uint16_t)boxDim[i];
    if (i > 0) map.stride[i - 1] = globalStrides[i - 1];
  }
  result = check_layout(&map, interleave, swizzle, oobFill);
  if (result != CUDA_SUCCESS) return result;
  memset(tensorMap, 0, sizeof *tensorMap);
  memcpy(tensorMap, &map, sizeof map);
  return CUDA_SUCCESS;
}

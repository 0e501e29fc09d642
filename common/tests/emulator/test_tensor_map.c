// Tests which arguments cuTensorMapEncodeTiled refuses, at the limits that the driver's reference gives. The driver takes
// some of these on a GPU, or refuses them with another error, so test_hopper.c has only those that it refuses alike.
#define _GNU_SOURCE
#include <cuda.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// The arguments of a map that is right: 3 dimensions of half, and a box of 64 x 8 x 1.
typedef struct {
  size_t map_offset, address;
  cuuint32_t rank;
  CUtensorMapDataType type;
  cuuint64_t size, stride;
  cuuint32_t box_columns, box_rows, element_stride;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
} arguments;
static const arguments RIGHT = {.address = 4096,
                                .rank = 3,
                                .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                .size = 64,
                                .stride = 128,
                                .box_columns = 64,
                                .box_rows = 8,
                                .element_stride = 1,
                                .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};

static CUresult encode(const arguments *with) {
  _Alignas(64) char memory[2 * sizeof(CUtensorMap)];
  const cuuint64_t sizes[6] = {with->size, 32, 1, 1, 1, 1};
  const cuuint64_t strides[5] = {with->stride, 8192, 8192, 8192, 8192};
  const cuuint32_t box[6] = {with->box_columns, with->box_rows, 1, 1, 1, 1};
  const cuuint32_t steps[6] = {with->element_stride, 1, 1, 1, 1, 1};
  return cuTensorMapEncodeTiled((CUtensorMap *)(memory + with->map_offset), with->type, with->rank,
                                (void *)(uintptr_t)with->address, sizes, strides, box, steps,
                                with->interleave, with->swizzle, with->promotion, with->fill);
}

// Each changes some of the right arguments.
#define EXPECT(result, ...)                                                                        \
  do {                                                                                             \
    arguments changed = RIGHT;                                                                     \
    arguments *it = &changed;                                                                      \
    __VA_ARGS__;                                                                                   \
    cr_expect_eq(encode(it), result, "with " #__VA_ARGS__);                                        \
  } while (false)
#define RIGHT_WITH(...)  EXPECT(CUDA_SUCCESS, __VA_ARGS__)
#define INVALID(...)     EXPECT(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define UNSUPPORTED(...) EXPECT(CUDA_ERROR_NOT_SUPPORTED, __VA_ARGS__)

// The sentences on stderr are none of the test's output.
static void quiet(void) { cr_assert_not_null(freopen("/dev/null", "w", stderr)); }

Test(tensor_map, sizes, .init = quiet) {
  RIGHT_WITH(it->size = UINT64_C(1) << 32);
  INVALID(it->size = (UINT64_C(1) << 32) + 1);
  INVALID(it->size = 0);
  RIGHT_WITH(it->box_rows = 256);
  INVALID(it->box_rows = 257);
  INVALID(it->box_rows = 0);
  INVALID(it->element_stride = 0);
  INVALID(it->element_stride = 9);
  UNSUPPORTED(it->element_stride = 8);
  RIGHT_WITH(it->stride = (UINT64_C(1) << 40) - 16);
  INVALID(it->stride = UINT64_C(1) << 40);
  INVALID(it->stride = 136);
}

Test(tensor_map, places_and_ranks, .init = quiet) {
  RIGHT_WITH(it->rank = 1);
  RIGHT_WITH(it->rank = 5);
  INVALID(it->rank = 0);
  INVALID(it->rank = 6);
  INVALID(it->address = 4104);
  INVALID(it->address = 0);
  INVALID(it->map_offset = 32);
}

Test(tensor_map, choices, .init = quiet) {
  RIGHT_WITH(it->promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  INVALID(it->promotion = (CUtensorMapL2promotion)4);
  INVALID(it->swizzle = (CUtensorMapSwizzle)7);
  INVALID(it->type = (CUtensorMapDataType)13);
  UNSUPPORTED(it->interleave = CU_TENSOR_MAP_INTERLEAVE_16B);
  UNSUPPORTED(it->fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

// Only a row that has just the swizzle's bytes can be shuffled. One that is shuffled may not have more; others may.
Test(tensor_map, rows, .init = quiet) {
  RIGHT_WITH(it->swizzle = CU_TENSOR_MAP_SWIZZLE_64B, it->box_columns = 32);
  RIGHT_WITH(it->swizzle = CU_TENSOR_MAP_SWIZZLE_32B, it->box_columns = 16);
  RIGHT_WITH(it->swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, it->box_columns = 256);
  RIGHT_WITH(it->type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, it->box_columns = 32);
  RIGHT_WITH(it->type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64, it->box_columns = 16);
  RIGHT_WITH(it->type = CU_TENSOR_MAP_DATA_TYPE_UINT8, it->box_columns = 128);
  INVALID(it->box_columns = 72);
  INVALID(it->swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
  UNSUPPORTED(it->box_columns = 32);
  INVALID(it->swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, it->box_columns = 12);
}

// Shared by the programs of Hopper's instructions: barriers that count bytes, and tensors for the copy engine.
#pragma once
#include "feature.h"

#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

// C [64, 32] = A [64, 64] B, and B^T is [32, 64].
static constexpr int ROWS = 64, COLUMNS = 32, DEPTH = 64;

__device__ static uint32_t shared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ static void wait_for(uint64_t *barrier, uint32_t parity) {
  asm volatile("{\n"
               ".reg .pred over;\n"
               "AGAIN:\n"
               "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%0], %1;\n"
               "@over bra.uni DONE;\n"
               "bra.uni AGAIN;\n"
               "DONE:\n"
               "}" ::"r"(shared(barrier)),
               "r"(parity)
               : "memory");
}

// A tensor of `rows` rows of 64 elements, in boxes of `box_rows`.
template <typename Element>
static bool describe(CUtensorMap *map, Element *tensor, unsigned rows, unsigned box_rows) {
  const cuuint64_t sizes[2] = {DEPTH, rows}, strides[1] = {DEPTH * 2};
  const cuuint32_t box[2] = {DEPTH, box_rows}, every_element[2] = {1, 1};
  const auto type = std::is_same_v<Element, half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  return cuTensorMapEncodeTiled(map, type, 2, tensor, sizes, strides, box, every_element,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <typename Element>
struct product {
  Element *A, *B;
  float *C;
  CUtensorMap A_map, B_map;
};

template <typename Element>
static bool prepare(product<Element> &it) {
  CHECK(cudaMallocManaged(&it.A, ROWS * DEPTH * sizeof *it.A));
  CHECK(cudaMallocManaged(&it.B, COLUMNS * DEPTH * sizeof *it.B));
  CHECK(cudaMallocManaged(&it.C, ROWS * COLUMNS * sizeof *it.C));
  for (int i = 0; i < ROWS * DEPTH; i++) it.A[i] = Element(i % 7 - 3.0f);
  for (int i = 0; i < COLUMNS * DEPTH; i++) it.B[i] = Element(i % 5 - 2.0f);
  return describe(&it.A_map, it.A, ROWS, ROWS) && describe(&it.B_map, it.B, COLUMNS, COLUMNS);
}

// Tests where box copies of all ranks, element sizes and swizzles put each byte, against the definition in words: row by
// row, zeros where the tensor has no elements, and pieces of 16 bytes shuffled by bits of their address.
#define _GNU_SOURCE
#include "boxes.h"
#include "emulator.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

// The place in the tensor of the byte of the box that has `index` in row-major order, before it is shuffled; -1: none.
static long place_of(const box_case *it, unsigned index) {
  unsigned rest = index / it->element_bytes;
  size_t place = 0, stride = 1;
  for (unsigned i = 0; i < it->rank; i++) {
    const int at = it->at[i] + (int)(rest % it->box[i]);
    rest /= it->box[i];
    if (at < 0 || at >= (int)it->size[i]) return -1;
    place += (size_t)at * stride;
    stride *= it->size[i];
  }
  return (long)(place * it->element_bytes + index % it->element_bytes);
}

static unsigned char expected_byte(const box_case *it, const unsigned char *tensor,
                                   unsigned index) {
  const long place = place_of(it, index);
  return place < 0 ? 0 : tensor[place];
}

// The bytes of the box come back to their places, and to no other ones.
static void check_store(const box_case *it, const unsigned char *tensor, size_t bytes,
                        unsigned box_bytes, unsigned offset, const unsigned char *box, bool waits) {
  unsigned char *expected = calloc(bytes, 1), *stored = malloc(bytes);
  for (unsigned i = 0; i < box_bytes; i++) {
    const long place = place_of(it, i);
    if (place >= 0) expected[place] = tensor[place];
  }
  stored_box(it, box, bytes, offset, waits, stored);
  cr_assert_eq(cudaGetLastError(), cudaSuccess, "rank %u", it->rank);
  cr_assert_arr_eq(stored, expected, bytes, "rank %u, span %u", it->rank, it->span);
  free(expected);
  free(stored);
}

static void check(const box_case *it, unsigned offset) {
  size_t bytes = it->element_bytes;
  unsigned box_bytes = it->element_bytes;
  for (unsigned i = 0; i < it->rank; i++) {
    bytes *= it->size[i];
    box_bytes *= it->box[i];
  }
  unsigned char *tensor = malloc(bytes), got[BOX_BYTES_MAX];
  for (size_t i = 0; i < bytes; i++) tensor[i] = (unsigned char)(1 + i * 7 % 251);
  copied_box(it, tensor, bytes, offset, got);
  cr_assert_eq(cudaGetLastError(), cudaSuccess, "rank %u", it->rank);
  for (unsigned i = 0; i < box_bytes; i++) {
    const unsigned address = offset + i;
    // Bits 7 to 9 of the address, as many as the swizzle has, go into bits 4 to 6.
    const unsigned place = (address ^ (address / 128 % (it->span / 16)) * 16) - offset;
    cr_assert_eq(got[place], expected_byte(it, tensor, i),
                 "rank %u, span %u, byte %u is %u, not %u", it->rank, it->span, i, got[place],
                 expected_byte(it, tensor, i));
  }
  check_store(it, tensor, bytes, box_bytes, offset, got, true);
  check_store(it, tensor, bytes, box_bytes, offset, got, false);
  free(tensor);
}

#define HALF  .type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, .element_bytes = 2
#define PLAIN .swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, .span = 16

Test(boxes, ranks) {
  static const box_case cases[] = {
      {1, {200}, {64}, {144}, HALF, PLAIN, 1},
      {2, {48, 7}, {16, 4}, {8, -2}, HALF, PLAIN, 2},
      {3, {24, 5, 4}, {16, 3, 2}, {-8, 3, 1}, HALF, PLAIN, 3},
      {4, {16, 3, 5, 4}, {16, 2, 3, 2}, {0, 1, -1, 3}, HALF, PLAIN, 4},
      {5, {16, 3, 2, 4, 3}, {8, 2, 2, 3, 2}, {8, 1, 0, 2, 1}, HALF, PLAIN, 5},
      {5, {16, 3, 2, 4, 3}, {8, 2, 2, 3, 2}, {8, -1, 1, 0, -1}, HALF, PLAIN, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(&cases[i], 0);
}

// A map has as many dimensions as the instruction, neither fewer nor more.
Test(boxes, rank_of_the_instruction) {
  static const box_case more = {3, {24, 5, 4}, {16, 3, 2}, {0}, HALF, PLAIN, 2},
                        fewer = {3, {24, 5, 4}, {16, 3, 2}, {0}, HALF, PLAIN, 4};
  static const unsigned char tensor[2 * 24 * 5 * 4];
  unsigned char got[BOX_BYTES_MAX];
  cr_assert_not_null(freopen("/dev/null", "w", stderr)); // the reports
  copied_box(&more, tensor, sizeof tensor, 0, got);
  cr_expect_eq(cudaGetLastError(), cudaErrorIllegalInstruction);
  cudaDeviceReset();
  copied_box(&fewer, tensor, sizeof tensor, 0, got);
  cr_expect_eq(cudaGetLastError(), cudaErrorIllegalInstruction);
}

// A box may lie beside the tensor, on each side and in each dimension: then it is all zeros.
Test(boxes, outside) {
  static const box_case cases[] = {
      {2, {32, 7}, {16, 4}, {32, 0}, HALF, PLAIN, 2},
      {2, {32, 7}, {16, 4}, {-16, 0}, HALF, PLAIN, 2},
      {2, {32, 7}, {16, 4}, {-64, 0}, HALF, PLAIN, 2},
      {2, {32, 7}, {16, 4}, {800, 0}, HALF, PLAIN, 2},
      {2, {32, 7}, {16, 4}, {0, 7}, HALF, PLAIN, 2},
      {2, {32, 7}, {16, 4}, {0, -4}, HALF, PLAIN, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(&cases[i], 0);
}

Test(boxes, elements) {
  static const box_case cases[] = {
      {2, {64, 9}, {32, 5}, {16, 6}, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {8, 6}, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {8, 6}, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {44, 6}, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {44, 6}, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {44, 6}, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {-6, 6}, CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {-6, 6}, CU_TENSOR_MAP_DATA_TYPE_INT64, 8, PLAIN, 2},
      {2, {64, 9}, {32, 5}, {-6, 6}, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, PLAIN, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check(&cases[i], 0);
}

// Only the bytes that the tensor has are copied from it, and back twice.
Test(boxes, counts) {
  static const box_case part = {2, {32, 7}, {16, 4}, {24, 5}, HALF, PLAIN, 2};
  emulator_counts_reset();
  check(&part, 0);
  cr_expect_eq(emulator_counts_read().async_copy_bytes, 3 * 2 * 8 * 2);
}

// The pattern counts from address 0 of shared memory, and a box may begin at each multiple of 128 bytes.
Test(boxes, swizzles) {
  static const box_case cases[] = {
      {2, {80, 40}, {64, 32}, {8, 3}, HALF, CU_TENSOR_MAP_SWIZZLE_128B, 128, 2},
      {2, {80, 40}, {32, 32}, {8, 3}, HALF, CU_TENSOR_MAP_SWIZZLE_64B, 64, 2},
      {2, {80, 40}, {16, 32}, {8, 3}, HALF, CU_TENSOR_MAP_SWIZZLE_32B, 32, 2},
      {2, {80, 40}, {16, 32}, {8, 3}, HALF, PLAIN, 2},
      {2,
       {40, 20},
       {16, 16},
       {2, 3},
       CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
       8,
       CU_TENSOR_MAP_SWIZZLE_128B,
       128,
       2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (unsigned offset = 0; offset < 1024; offset += 128) check(&cases[i], offset);
}

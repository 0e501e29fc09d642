// The contents that cuTensorMapEncodeTiled writes into a CUtensorMap.
#ifndef TENSOR_MAP_H
#define TENSOR_MAP_H

#include "emulator.h"

#include <cuda.h>
#include <stdbool.h>

enum { TENSOR_RANK_MAX = 5 };

typedef struct {
  uint64_t mark;                        // TENSOR_MAP_MARK
  uint64_t address;                     // of the tensor, in device memory
  uint64_t stride[TENSOR_RANK_MAX - 1]; // bytes, from the second dimension on
  uint32_t last[TENSOR_RANK_MAX];       // index in each dimension
  uint16_t box[TENSOR_RANK_MAX];        // elements
  uint8_t rank;
  uint8_t element_bytes;
  uint8_t span; // of the swizzle: 32, 64 or 128 bytes, 16 for none
} tensor_map;
_Static_assert(sizeof(tensor_map) <= sizeof(CUtensorMap), "it must fit");

// An arbitrary number with which every encoded CUtensorMap begins.
#define TENSOR_MAP_MARK UINT64_C(0x70616d726f736e74)

// The bytes of a row of the box, which is its contiguous dimension, and those of the whole box.
static inline unsigned tensor_map_row_bytes(const tensor_map *map) {
  return (unsigned)map->box[0] * map->element_bytes;
}
static inline unsigned tensor_map_box_bytes(const tensor_map *map) {
  unsigned bytes = map->element_bytes;
  for (unsigned i = 0; i < map->rank; i++) bytes *= map->box[i];
  return bytes;
}

#endif

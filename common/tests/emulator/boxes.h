// Box copies of all ranks, element sizes and swizzles, for test_boxes.c. Only the emulator runs them, because ptx.cuh has
// the instruction for four dimensions alone.
#ifndef BOXES_H
#define BOXES_H

#include <cuda.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  unsigned rank;
  unsigned size[5], box[5]; // elements, the contiguous dimension first
  int at[5];                // where the box begins
  CUtensorMapDataType type;
  unsigned element_bytes;
  CUtensorMapSwizzle swizzle;
  unsigned span; // bytes of the swizzle, 16 for none
  unsigned instruction_rank;
} box_case;

enum { BOX_BYTES_MAX = 8192 };

// Copies the box of a tensor whose element i has the bytes i + 1, and gives what is in shared memory then, from the start
// of the box on, which lies `offset` bytes behind a multiple of 1024.
void copied_box(const box_case *it, const unsigned char *tensor, size_t tensor_bytes,
                unsigned offset, unsigned char *got);

// Stores such a box from shared memory, where it lies `offset` bytes behind a multiple of 1024, in a tensor of zeros. The
// thread waits for it, or ends without.
void stored_box(const box_case *it, const unsigned char *box, size_t tensor_bytes, unsigned offset,
                bool waits, unsigned char *tensor);

#ifdef __cplusplus
}
#endif
#endif

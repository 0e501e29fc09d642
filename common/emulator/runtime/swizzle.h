// How 16-byte pieces are shuffled in shared memory, so that the rows of a tile start in different banks: bits
// 7 to 9 of the address are exclusive-ored into bits 4 to 6, all three in the 128-byte swizzle, the lowest two
// in that of 64, one in that of 32 (CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional
// arrays", "Swizzle modes"). The pattern counts from address 0 of shared memory, not from the tile's start.
#ifndef SWIZZLE_H
#define SWIZZLE_H

#include <stdint.h>

enum { SWIZZLE_PIECE = 16 }; // bytes

// The swizzled place of the byte that has `address` without swizzle. `span`: 128, 64, 32, or 16 for none.
static inline uint32_t swizzled_address(uint32_t address, unsigned span) {
  return address ^ (address >> 3 & (span - SWIZZLE_PIECE));
}

#endif

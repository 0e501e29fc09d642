// NaNs that say where they come from. The emulator fills memory and registers that hold no value yet with them, and
// the check of a step's outputs reads them back: "NaN, computed from shared memory that no thread had written".
//
// A processor of x86-64 or aarch64 keeps the upper bits of a NaN's fraction in its arithmetic, and so do conversions
// between fp16, bf16 and float32 (IEEE 754-2019, section 6.2.3). The fill repeats one number of 16 bits, which is a
// quiet NaN in these formats and in float64:
//
//   1 11111111111 1 xxx    xxx is the kind, 1 to 6; 0x7FFF is the NaN that a GPU computes, and 0xFFFF marks outputs
//
// Kind 7, around tensors, has a number of its own, 0xFFD5, which is a NaN in all of these formats but float64.
//
// A GPU computes one NaN alone, so there a NaN that was computed tells no kind.
#ifndef POISON_H
#define POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum {
  POISON_NONE,     // no NaN, or one of unknown origin
  POISON_DEVICE,   // device memory that was never written
  POISON_SHARED,   // shared memory likewise
  POISON_FRAGMENT, // a wmma fragment that was never filled
  POISON_COPY,     // an asynchronous copy that has not arrived
  POISON_PRODUCT,  // a wgmma product that was not waited for
  POISON_LANE,     // a shuffle from a lane that takes no part
  POISON_OUTSIDE,  // memory before the start or past the end of a tensor
  POISON_KINDS
} poison;

// Says what a NaN of this kind was computed from.
static inline const char *poison_origin(poison kind) {
  static const char *const origins[POISON_KINDS] = {
      "",
      "device memory that was never written",
      "shared memory that no thread had written",
      "a wmma fragment that was never filled",
      "a copy that had not arrived (is a wait missing, or was the stage filled again too early?)",
      "the result of a wgmma product before a wait (is the wait missing, or the commit it needs?)",
      "a shuffle from a lane that takes no part in it",
      "memory outside a tensor, before its start or past its end",
  };
  return origins[kind];
}

static inline uint16_t poison_bits(poison kind) {
  return kind == POISON_OUTSIDE ? 0xFFD5 : (uint16_t)(0xFFF8 | kind);
}

// Fills memory that begins at an even address. To the sanitizer this is no access of a kernel, see float16.h.
static inline void poison_fill(void *memory, size_t bytes, poison kind) {
  const uint64_t pattern = poison_bits(kind) * UINT64_C(0x0001000100010001);
  char *at = (char *)memory;
  for (; bytes >= sizeof pattern; at += sizeof pattern, bytes -= sizeof pattern) {
    (__builtin_memcpy)(at, &pattern, sizeof pattern);
  }
  (__builtin_memcpy)(at, &pattern, bytes);
}

// Whether it is one of the bytes that poison_fill writes.
static inline bool poison_has_byte(uint8_t byte) {
  if (byte == (uint8_t)poison_bits(POISON_OUTSIDE)) return true;
  return byte == 0xFF || (byte > (uint8_t)poison_bits(POISON_NONE) &&
                          byte < (uint8_t)(poison_bits(POISON_NONE) + POISON_OUTSIDE));
}

// The kind of the upper ten bits of a NaN's fraction in fp16 or float32.
static inline poison poison_of_fraction(uint32_t fraction) {
  const uint32_t low = fraction & 7, middle = fraction >> 3 & 7;
  if (fraction == 0x3D5 || fraction == 0x2AF || fraction == 0x2A8) // from fp16, float32 or bf16
    return POISON_OUTSIDE;
  if (fraction >> 3 == 0x7F) return low < POISON_OUTSIDE ? (poison)low : POISON_NONE; // from fp16
  const int whole =
      low == 7 || low == 0; // from float32, whose next bits are those of the pattern, or from bf16
  return fraction >> 6 == 0xF && whole && middle < POISON_OUTSIDE ? (poison)middle : POISON_NONE;
}

static inline poison poison_of_fp16(uint16_t bits) {
  return (bits & 0x7C00) == 0x7C00 ? poison_of_fraction(bits & 0x3FF) : POISON_NONE;
}

static inline poison poison_of_bf16(uint16_t bits) {
  const unsigned kind = bits & 7;
  if ((bits & 0x7FFF) == 0x7FD5) return POISON_OUTSIDE;
  return (bits & 0x7FF8) == 0x7FF8 && kind < POISON_OUTSIDE ? (poison)kind : POISON_NONE;
}

static inline poison poison_of_float(float value) {
  uint32_t bits;
  (__builtin_memcpy)(&bits, &value, sizeof bits);
  return (bits & 0x7F800000) == 0x7F800000 ? poison_of_fraction(bits >> 13 & 0x3FF) : POISON_NONE;
}

#endif

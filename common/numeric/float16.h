// fp16 (IEEE 754 binary16) and bf16 (the upper half of a binary32), to and from float32.
// Conversions to 16 bits round to the nearest value, ties to even, as the GPU's do.
#ifndef FLOAT16_H
#define FLOAT16_H

#include <stdint.h>
#include <string.h>

// Kernels convert numbers as well, and there memcpy is an access that the sanitizer watches (emulator/include/detail/
// byte_functions.h). The compiler's own function, in parentheses, is none: it only looks at the bits of a variable.
static inline uint32_t float_bits(float value) {
  uint32_t bits;
  (__builtin_memcpy)(&bits, &value, sizeof bits);
  return bits;
}

static inline float float_from_bits(uint32_t bits) {
  float value;
  (__builtin_memcpy)(&value, &bits, sizeof value);
  return value;
}

// This portable form stands beside the instruction so that a test can compare the two on every value.
static inline float fp16_to_float_portable(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) { // infinity, or NaN, which comes back quiet
    return float_from_bits(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0));
  }
  if (exponent == 0) { // zero or subnormal: fraction * 2^-24, exact in float32
    const float magnitude = (float)fraction * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return float_from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

static inline uint16_t fp16_from_float_portable(float value) {
  const uint32_t bits = float_bits(value);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) { // NaN: keep the upper fraction bits, make it quiet
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
  }
  if (magnitude >= 0x477ff000) return sign | 0x7c00; // 65520 and above round to infinity
  if (magnitude < 0x38800000) {                      // below 2^-14: subnormal in fp16
    // Adding 0.5 leaves the value's multiple of 2^-24 in the low fraction bits, rounded by the FPU.
    const float shifted = float_from_bits(magnitude) + 0.5f;
    return (uint16_t)(sign | (float_bits(shifted) - float_bits(0.5f)));
  }
  const uint32_t odd = magnitude >> 13 & 1; // ties go to the even neighbour
  const uint32_t rounded = magnitude + 0xfff + odd;
  return (uint16_t)(sign | ((rounded - ((127 - 15) << 23)) >> 13));
}

// These are the instructions _cvtsh_ss and _cvtss_sh of <immintrin.h>, by the names that gcc and clang have
// for them. To compile that header would take half as long as to compile a whole kernel. On aarch64 they are written out,
// because of the type __fp16 g++ makes sums and products of fp16, and then one instruction of a product and a sum, which
// leaves out a rounding. The portable form is too long to become part of every function of a kernel's numbers, and the
// sanitizer sees no load of a number that is passed to a function which stays one of its own.
#ifdef __F16C__
typedef short float16_lanes __attribute__((vector_size(16)));
typedef float float32_lanes __attribute__((vector_size(16)));
typedef float float32_eight __attribute__((vector_size(32)));
#endif

static inline float fp16_to_float(uint16_t half) {
#ifdef __F16C__
  const float16_lanes halves = {(short)half};
  const float32_lanes floats = __builtin_ia32_vcvtph2ps(halves);
  return floats[0];
#elif defined __aarch64__
  float value;
  __asm__("fcvt %s0, %h1" : "=w"(value) : "w"((uint32_t)half));
  return value;
#else
  return fp16_to_float_portable(half);
#endif
}

// Converts `count` values, eight at a time: neither gcc nor clang makes that of a loop over one.
static inline void fp16_to_floats(float *to, const uint16_t *from, unsigned count) {
#ifdef __F16C__
  for (; count >= 8; count -= 8, from += 8, to += 8) {
    float16_lanes halves;
    memcpy(&halves, from, sizeof halves);
    const float32_eight floats = __builtin_ia32_vcvtph2ps256(halves);
    memcpy(to, &floats, sizeof floats);
  }
#endif
  for (unsigned i = 0; i < count; i++) to[i] = fp16_to_float(from[i]);
}

static inline uint16_t fp16_from_float(float value) {
#ifdef __F16C__
  enum { NEAREST = 0 }; // ties to even
  const float32_lanes floats = {value};
  const float16_lanes halves = __builtin_ia32_vcvtps2ph(floats, NEAREST);
  return (uint16_t)halves[0];
#elif defined __aarch64__
  uint32_t half;
  __asm__("fcvt %h0, %s1" : "=w"(half) : "w"(value));
  return (uint16_t)half;
#else
  return fp16_from_float_portable(value);
#endif
}

static inline float bf16_to_float(uint16_t brain) { return float_from_bits((uint32_t)brain << 16); }

static inline uint16_t bf16_from_float(float value) {
  const uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); // NaN, made quiet
  const uint32_t odd = bits >> 16 & 1;
  return (uint16_t)((bits + 0x7fff + odd) >> 16);
}

#endif

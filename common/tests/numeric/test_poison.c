// A NaN of each kind goes through the arithmetic and the conversions of a kernel, and is known at their end.
#include "numeric/float16.h"
#include "numeric/poison.h"
#include <criterion/criterion.h>
#include <math.h>

// A kernel's arithmetic, which the compiler must not carry out before the run.
static float computed(float value) {
  volatile float x = value, two = 2;
  return -(two * (1 - x) + 3) / two;
}

static void expect(poison kind, float value, const char *path) {
  cr_assert(isnan(value), "kind %d %s is %g", kind, path, (double)value);
  const float result = computed(value);
  cr_assert_eq(poison_of_float(result), kind, "kind %d %s in float32: 0x%08x", kind, path,
               float_bits(result));
  const uint16_t fp16 = fp16_from_float(result), bf16 = bf16_from_float(result);
  const uint16_t portable = fp16_from_float_portable(result);
  cr_assert_eq(poison_of_fp16(portable), kind, "kind %d %s, portable: 0x%04x", kind, path,
               portable);
  // An element type never becomes the other one.
  if (strcmp(path, "from bf16") != 0)
    cr_assert_eq(poison_of_fp16(fp16), kind, "kind %d %s in fp16: 0x%04x", kind, path, fp16);
  if (strcmp(path, "from fp16") != 0)
    cr_assert_eq(poison_of_bf16(bf16), kind, "kind %d %s in bf16: 0x%04x", kind, path, bf16);
}

Test(poison, survives_arithmetic_and_conversions) {
  for (poison kind = POISON_NONE + 1; kind < POISON_KINDS; kind++) {
    const uint16_t bits = poison_bits(kind);
    float whole;
    double wide;
    poison_fill(&whole, sizeof whole, kind);
    poison_fill(&wide, sizeof wide, kind);
    cr_assert(isnan(wide) || kind == POISON_OUTSIDE); // tensors hold no float64
    expect(kind, whole, "from float32");
    expect(kind, fp16_to_float(bits), "from fp16");
    expect(kind, fp16_to_float_portable(bits), "from fp16");
    expect(kind, bf16_to_float(bits), "from bf16");
    cr_assert_eq(poison_of_fp16(bits), kind);
    cr_assert_eq(poison_of_bf16(bits), kind);
    cr_assert(strlen(poison_origin(kind)) > 0);
  }
}

// NaNs that a processor makes itself, those of a GPU, the mark of outputs, infinities and numbers.
Test(poison, is_not_found_in_other_values) {
  volatile float infinite = INFINITY, zero = 0;
  const float floats[] = {infinite - infinite,
                          infinite * zero,
                          NAN,
                          INFINITY,
                          -INFINITY,
                          1.5f,
                          float_from_bits(0x7fffffff),
                          float_from_bits(0xffffffff)};
  for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
    cr_assert_eq(poison_of_float(floats[i]), POISON_NONE, "0x%08x", float_bits(floats[i]));
    cr_assert_eq(poison_of_fp16(fp16_from_float(floats[i])), POISON_NONE);
    cr_assert_eq(poison_of_bf16(bf16_from_float(floats[i])), POISON_NONE);
  }
  size_t found = 0;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const poison fp16 = poison_of_fp16((uint16_t)bits), bf16 = poison_of_bf16((uint16_t)bits);
    cr_assert(!fp16 || isnan(fp16_to_float((uint16_t)bits)), "fp16 0x%04x", bits);
    cr_assert(!bf16 || isnan(bf16_to_float((uint16_t)bits)), "bf16 0x%04x", bits);
    found += (fp16 != 0) + (bf16 != 0);
  }
  // Each kind in both signs: as 16 bits, in fp16 from the upper bits of float32 and of bf16 as well.
  cr_assert_eq(found, (POISON_KINDS - 1) * 2 * 4, "%zu", found);
}

// The sanitizer tells by single bytes what was never written.
Test(poison, has_the_bytes_of_each_kind) {
  bool filled[256] = {[0xff] = true};
  for (poison kind = POISON_NONE + 1; kind < POISON_KINDS; kind++)
    filled[poison_bits(kind) & 0xff] = filled[poison_bits(kind) >> 8] = true;
  for (unsigned byte = 0; byte < 256; byte++)
    cr_expect_eq(poison_has_byte((uint8_t)byte), filled[byte], "0x%02x", byte);
}

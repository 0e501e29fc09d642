// Tests conversions of every 16-bit value, and of float32 values around every rounding boundary.
#include "numeric/float16.h"
#include <criterion/criterion.h>
#include <math.h>

Test(float16, every_value_survives_the_round_trip) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const float fp16 = fp16_to_float((uint16_t)bits);
    cr_assert_eq(float_bits(fp16), float_bits(fp16_to_float_portable((uint16_t)bits)), "fp16 %04x",
                 bits);
    const float bf16 = bf16_to_float((uint16_t)bits);
    if (!isnan(fp16)) cr_assert_eq(fp16_from_float(fp16), bits, "fp16 %04x", bits);
    // A NaN comes back quiet, with its sign.
    cr_assert_eq(fp16_from_float_portable(fp16), isnan(fp16) ? bits | 0x200 : bits,
                 "portable, %04x", bits);
    if (!isnan(bf16)) cr_assert_eq(bf16_from_float(bf16), bits, "bf16 %04x", bits);
  }
}

// Arrays of each length around the eight values that are converted at a time, from any address.
Test(float16, arrays) {
  uint16_t from[0x10000 + 32];
  float to[33];
  for (uint32_t i = 0; i < sizeof from / sizeof from[0]; i++) from[i] = (uint16_t)i;
  unsigned count = 0;
  for (uint32_t begin = 0; begin < 0x10000; begin += count, count = (count + 1) % 33) {
    to[count] = 7.0f;
    fp16_to_floats(to, from + begin, count);
    for (unsigned i = 0; i < count; i++) {
      cr_assert_eq(float_bits(to[i]), float_bits(fp16_to_float((uint16_t)(begin + i))),
                   "%u values from %04x: value %u", count, begin, i);
    }
    cr_assert_eq(to[count], 7.0f, "%u values from %04x: one too many", count, begin);
  }
}

// Rounds to the nearer of two neighbours, and to the even one when they are equally near.
Test(float16, rounds_to_nearest_even) {
  for (uint32_t bits = 0; bits < 0x7bff; bits++) {
    const double low = (double)fp16_to_float((uint16_t)bits);
    const double high = (double)fp16_to_float((uint16_t)(bits + 1));
    const float middle = (float)(0.5 * (low + high)); // exact: float32 has bits to spare
    const uint16_t even = (uint16_t)(bits + (bits & 1));
    const float below = nextafterf(middle, 0.0f);
    const float above = nextafterf(middle, INFINITY);
    cr_assert_eq(fp16_from_float(middle), even, "between %04x and the next", bits);
    cr_assert_eq(fp16_from_float(below), bits, "below the middle of %04x and the next", bits);
    cr_assert_eq(fp16_from_float(above), bits + 1, "above the middle of %04x and the next", bits);
    cr_assert_eq(fp16_from_float_portable(middle), even, "portable, %04x", bits);
    cr_assert_eq(fp16_from_float_portable(below), bits, "portable, %04x", bits);
    cr_assert_eq(fp16_from_float_portable(above), bits + 1, "portable, %04x", bits);
  }
  for (uint32_t bits = 0; bits < 0x7f7f; bits++) {
    const uint32_t middle = bits << 16 | 0x8000;
    cr_assert_eq(bf16_from_float(float_from_bits(middle)), bits + (bits & 1), "bf16 %04x", bits);
    cr_assert_eq(bf16_from_float(float_from_bits(middle - 1)), bits, "bf16 %04x", bits);
    cr_assert_eq(bf16_from_float(float_from_bits(middle + 1)), bits + 1, "bf16 %04x", bits);
  }
}

Test(float16, extremes) {
  cr_assert_eq(fp16_from_float(65504.0f), 0x7bff);
  cr_assert_eq(fp16_from_float(65519.996f), 0x7bff);
  cr_assert_eq(fp16_from_float(65520.0f), 0x7c00);
  cr_assert_eq(fp16_from_float(-INFINITY), 0xfc00);
  cr_assert_eq(fp16_from_float(0x1p-25f), 0x0000); // halfway to the smallest subnormal, to even
  cr_assert_eq(fp16_from_float(nextafterf(0x1p-25f, 1.0f)), 0x0001);
  cr_assert_eq(fp16_from_float(-0.0f), 0x8000);
  cr_assert(isnan(fp16_to_float(fp16_from_float(NAN))));
  cr_assert(isnan(bf16_to_float(bf16_from_float(float_from_bits(0x7f800001)))));
  cr_assert_eq(bf16_from_float(3.4e38f), 0x7f80);
}

// The two formats of 8 bits that tensor cores know: e4m3 has 3 bits of fraction and no infinity, e5m2 has 2 bits of
// fraction and the exponent of fp16 (Micikevicius and others, "FP8 Formats for Deep Learning", 2022). CUDA only converts
// such numbers, so there is no arithmetic here (CUDA Math API reference, "FP8 Conversion and Data Movement").
#ifndef EMULATOR_DETAIL_NUMBER8_H
#define EMULATOR_DETAIL_NUMBER8_H
#include "./own_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <cmath>

namespace emulator {

struct e4m3_format {
  static constexpr int fraction_bits = 3, bias = 7;
  static constexpr double largest = 448;
  static constexpr unsigned char largest_bits = 0x7e, overflow = 0x7f;
  // As fp16 the bits mean 2^-8 of the number, since the exponent's bias there is 15. The last pattern is NaN.
  static float widen(unsigned char bits) {
    if ((bits & 0x7f) == 0x7f) return fp16_to_float(0x7fff);
    return fp16_to_float(static_cast<uint16_t>((bits & 0x80) << 8 | (bits & 0x7f) << 7)) * 256;
  }
};

struct e5m2_format {
  static constexpr int fraction_bits = 2, bias = 15;
  static constexpr double largest = 57344;
  static constexpr unsigned char largest_bits = 0x7b, overflow = 0x7c;
  static float widen(unsigned char bits) {
    if ((bits & 0x7f) > 0x7c) return fp16_to_float(0x7fff);
    return fp16_to_float(static_cast<uint16_t>(bits << 8));
  }
};

// Rounds to the nearest number, ties to even. A number that is too large becomes the largest one, or without `saturates`
// an infinity, which in e4m3 is NaN.
template <typename Format>
unsigned char narrow_to_8(double x, bool saturates) {
  constexpr int normal = 1 << Format::fraction_bits; // the fraction of 1.0, as an integer
  if (std::isnan(x)) return 0x7f;
  const unsigned char sign = std::signbit(x) ? 0x80 : 0;
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | (saturates ? Format::largest_bits : Format::overflow);
  int exponent = magnitude == 0 ? 0 : std::ilogb(magnitude);
  if (exponent < 1 - Format::bias || magnitude == 0) exponent = 1 - Format::bias; // subnormal
  const double steps = std::nearbyint(std::ldexp(magnitude, Format::fraction_bits - exponent));
  if (std::ldexp(steps, exponent - Format::fraction_bits) > Format::largest)
    return sign | (saturates ? Format::largest_bits : Format::overflow);
  // A fraction that was rounded up to 2.0 carries over into the exponent.
  return static_cast<unsigned char>(
      sign | ((exponent + Format::bias) * normal + static_cast<int>(steps) - normal));
}

// A number, which saturates where it is made of another type.
template <typename Format>
class number8 {
public:
  unsigned char __x; // CUDA's programs use it

  number8() = default;
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit number8(T x) : __x(narrow_to_8<Format>(static_cast<double>(x), true)) {}
  template <typename Other>
  explicit number8(number16<Other> x) : number8(static_cast<float>(x)) {}

  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit operator T() const {
    const float value = Format::widen(__x);
    if constexpr (std::is_same_v<T, bool>)
      return value != 0;
    else if constexpr (std::is_integral_v<T>)
      return saturating_cast<T>(std::trunc(value));
    else
      return value;
  }
  template <typename Other>
  explicit operator number16<Other>() const {
    return Format::widen(__x);
  }
};

// Two or four numbers side by side, the first in the lowest bits.
template <typename Format, typename Storage, typename Floats>
class numbers8 {
  static constexpr int count = sizeof(Storage);

public:
  Storage __x;

  numbers8() = default;
  explicit numbers8(const Floats &x) : __x(0) {
    const float *parts = &x.x;
    for (int i = 0; i < count; i++)
      __x |= static_cast<Storage>(narrow_to_8<Format>(parts[i], true)) << 8 * i;
  }
  template <typename Other, typename Pair = Floats, std::enable_if_t<sizeof(Pair) == 8, int> = 0>
  explicit numbers8(const number16_pair<Other> &x) : numbers8(Floats{x.x, x.y}) {}

  explicit operator Floats() const {
    Floats all;
    float *parts = &all.x;
    for (int i = 0; i < count; i++)
      parts[i] = Format::widen(static_cast<unsigned char>(__x >> 8 * i));
    return all;
  }
  template <typename Other, typename Pair = Floats, std::enable_if_t<sizeof(Pair) == 8, int> = 0>
  explicit operator number16_pair<Other>() const {
    const Floats pair = static_cast<Floats>(*this);
    return number16_pair<Other>(pair.x, pair.y);
  }
};

} // namespace emulator

#include "./own_letters_end.h"

#endif

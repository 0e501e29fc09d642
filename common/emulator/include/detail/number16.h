// The arithmetic that half and __nv_bfloat16 share (CUDA Math API reference, "Half Precision
// Intrinsics" and "Bfloat16 Precision Intrinsics"). Functions are hidden friends: found through
// their arguments, with CUDA's implicit conversions.
//
// + - * / and sqrt are computed in float32 and rounded once more to 16 bits, which gives the
// correctly rounded result: float32 has 24 >= 2 * 11 + 2 bits of precision (Figueroa, "When is
// Double Rounding Innocuous?", SIGNUM Newsletter 30(3), 1995). A fused multiply-add needs more care.
#ifndef EMULATOR_DETAIL_NUMBER16_H
#define EMULATOR_DETAIL_NUMBER16_H
#include "./own_letters.h"

#include "atomic_functions.h"
#include "intrinsics.h"
#include "warp_functions.h"

#include "numeric/float16.h"

#include <type_traits>

namespace emulator {

struct fp16_format {
  static float widen(unsigned short bits) { return fp16_to_float(bits); }
  static unsigned short narrow(float x) { return fp16_from_float(x); }
  static constexpr unsigned short nan = 0x7fff; // the NaN that the GPU returns
};

struct bf16_format {
  static float widen(unsigned short bits) { return bf16_to_float(bits); }
  static unsigned short narrow(float x) { return bf16_from_float(x); }
  static constexpr unsigned short nan = 0x7fff;
};

// ---- Rounding to odd ----------------------------------------------------------------------------
// A result that is not exact gets an odd last bit. Rounding it again to a shorter format is then
// correct, since it cannot create a tie that the exact result was not (Boldo and Melquiond, "Emulation
// of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", IEEE TC 57(4), 2008).

template <typename Wide>
float float_to_odd(Wide x) {
  const float nearest = static_cast<float>(x);
  const Wide back = static_cast<Wide>(nearest);
  if (back == x || isnan(nearest) || (float_bits(nearest) & 1) != 0) return nearest;
  return nextafterf(nearest, back < x ? HUGE_VALF : -HUGE_VALF);
}

inline double sum_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part); // Knuth's two-sum: exact
  if (error == 0 || !isfinite(error) || (bit_cast<uint64_t>(sum) & 1) != 0) return sum;
  return nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

// ---- The number ---------------------------------------------------------------------------------

// Only the bits, as in CUDA's __half_raw.
template <typename Format>
struct number16_raw {
  unsigned short x;
};

enum class rounding { nearest, toward_zero, up, down };

template <typename Format>
class number16 {
  template <typename T>
  using if_integer = std::enable_if_t<std::is_integral_v<T>, int>;

public:
  number16() = default;
#if defined __SANITIZE_THREAD__ && !defined __OPTIMIZE__
  // g++ does not report a store of what a call returns, if that is an object, and without optimisation a call stays one. So
  // the number is stored here, inlined, because reports name the line of the caller.
  number16(const number16 &) = default;
  __attribute__((always_inline)) number16 &operator=(const number16 &other) {
    bits_ = other.bits_;
    return *this;
  }
#endif
  number16(float x) : bits_(Format::narrow(x)) {}
  number16(double x) : bits_(Format::narrow(float_to_odd(x))) {}
  // long double holds every 64-bit integer.
  template <typename T, if_integer<T> = 0>
  number16(T x) : bits_(Format::narrow(float_to_odd(static_cast<long double>(x)))) {}

  number16(number16_raw<Format> raw) : bits_(raw.x) {}
  operator number16_raw<Format>() const { return {bits_}; }
  static number16 from_bits(unsigned short bits) {
    number16 x;
    x.bits_ = bits;
    return x;
  }
  unsigned short bits() const { return bits_; }

  operator float() const { return Format::widen(bits_); }
  template <typename T, if_integer<T> = 0>
  operator T() const {
    if constexpr (std::is_same_v<T, bool>) {
      return (bits_ & 0x7fff) != 0;
    } else {
      return saturating_cast<T>(trunc(widened()));
    }
  }

  // Rounds x in the given direction, which is at most one step from the nearest number.
  static number16 round(long double x, rounding direction) {
    const number16 nearest(Format::narrow(float_to_odd(x)), 0);
    const long double found = nearest.widened();
    if (direction == rounding::nearest || isnan(found)) return nearest;
    const bool down =
        direction == rounding::down || (direction == rounding::toward_zero && !signbit(x));
    if (found > x && down) return nearest.next(-1);
    if (found < x && !down) return nearest.next(1);
    return nearest;
  }

  number16 &operator+=(number16 other) { return *this = *this + other; }
  number16 &operator-=(number16 other) { return *this = *this - other; }
  number16 &operator*=(number16 other) { return *this = *this * other; }
  number16 &operator/=(number16 other) { return *this = *this / other; }
  number16 &operator++() { return *this += number16(1.0f); }
  number16 &operator--() { return *this -= number16(1.0f); }
  number16 operator++(int) {
    const number16 old = *this;
    ++*this;
    return old;
  }
  number16 operator--(int) {
    const number16 old = *this;
    --*this;
    return old;
  }

  // ---- Arithmetic -------------------------------------------------------------------------------

  friend number16 operator+(number16 a, number16 b) { return a.widened() + b.widened(); }
  friend number16 operator-(number16 a, number16 b) { return a.widened() - b.widened(); }
  friend number16 operator*(number16 a, number16 b) { return a.widened() * b.widened(); }
  friend number16 operator/(number16 a, number16 b) { return a.widened() / b.widened(); }
  friend number16 operator+(number16 a) { return a; }
  friend number16 operator-(number16 a) { return from_bits(a.bits_ ^ 0x8000); }

  friend number16 __hadd(number16 a, number16 b) { return a + b; }
  friend number16 __hsub(number16 a, number16 b) { return a - b; }
  friend number16 __hmul(number16 a, number16 b) { return a * b; }
  friend number16 __hdiv(number16 a, number16 b) { return a / b; }
  friend number16 __hadd_rn(number16 a, number16 b) { return a + b; }
  friend number16 __hsub_rn(number16 a, number16 b) { return a - b; }
  friend number16 __hmul_rn(number16 a, number16 b) { return a * b; }
  friend number16 __hneg(number16 a) { return -a; }
  friend number16 __habs(number16 a) { return from_bits(a.bits_ & 0x7fff); }
  // The product of two 16-bit numbers is exact in double, so that the sum is rounded once.
  friend number16 __hfma(number16 a, number16 b, number16 c) {
    return sum_to_odd(static_cast<double>(a.widened()) * b.widened(), c.widened());
  }
  friend number16 __hadd_sat(number16 a, number16 b) { return saturate16(a + b); }
  friend number16 __hsub_sat(number16 a, number16 b) { return saturate16(a - b); }
  friend number16 __hmul_sat(number16 a, number16 b) { return saturate16(a * b); }
  friend number16 __hfma_sat(number16 a, number16 b, number16 c) {
    return saturate16(__hfma(a, b, c));
  }
  friend number16 __hfma_relu(number16 a, number16 b, number16 c) {
    return __hmax_nan(__hfma(a, b, c), number16(0.0f));
  }

  // ---- Comparison: the forms ending in u are true when an operand is NaN ------------------------

  friend bool operator==(number16 a, number16 b) { return a.widened() == b.widened(); }
  friend bool operator!=(number16 a, number16 b) { return a.widened() != b.widened(); }
  friend bool operator<(number16 a, number16 b) { return a.widened() < b.widened(); }
  friend bool operator<=(number16 a, number16 b) { return a.widened() <= b.widened(); }
  friend bool operator>(number16 a, number16 b) { return a.widened() > b.widened(); }
  friend bool operator>=(number16 a, number16 b) { return a.widened() >= b.widened(); }

  friend bool __heq(number16 a, number16 b) { return a == b; }
  friend bool __hne(number16 a, number16 b) { return a < b || a > b; }
  friend bool __hlt(number16 a, number16 b) { return a < b; }
  friend bool __hle(number16 a, number16 b) { return a <= b; }
  friend bool __hgt(number16 a, number16 b) { return a > b; }
  friend bool __hge(number16 a, number16 b) { return a >= b; }
  friend bool __hequ(number16 a, number16 b) { return !__hne(a, b); }
  friend bool __hneu(number16 a, number16 b) { return !(a == b); }
  friend bool __hltu(number16 a, number16 b) { return !(a >= b); }
  friend bool __hleu(number16 a, number16 b) { return !(a > b); }
  friend bool __hgtu(number16 a, number16 b) { return !(a <= b); }
  friend bool __hgeu(number16 a, number16 b) { return !(a < b); }
  friend bool __hisnan(number16 a) { return isnan(a.widened()); }
  friend int __hisinf(number16 a) { // -1, 0 or 1
    if (!isinf(a.widened())) return 0;
    return signbit(a.widened()) ? -1 : 1;
  }

  // If one operand is NaN, the result is the other one, or NaN in the _nan forms. +0 exceeds -0.
  friend number16 __hmax(number16 a, number16 b) {
    if (__hisnan(a)) return __hisnan(b) ? from_bits(Format::nan) : b;
    if (__hisnan(b)) return a;
    return a > b || (a == b && !signbit(a.widened())) ? a : b;
  }
  friend number16 __hmin(number16 a, number16 b) { return -__hmax(-a, -b); }
  friend number16 __hmax_nan(number16 a, number16 b) {
    return __hisnan(a) || __hisnan(b) ? from_bits(Format::nan) : __hmax(a, b);
  }
  friend number16 __hmin_nan(number16 a, number16 b) {
    return __hisnan(a) || __hisnan(b) ? from_bits(Format::nan) : __hmin(a, b);
  }

  // ---- Functions --------------------------------------------------------------------------------

  friend number16 hsqrt(number16 a) { return sqrtf(a.widened()); }
  friend number16 hrsqrt(number16 a) { return rsqrtf(a.widened()); }
  friend number16 hrcp(number16 a) { return 1.0f / a.widened(); }
  friend number16 hexp(number16 a) { return expf(a.widened()); }
  friend number16 hexp2(number16 a) { return exp2f(a.widened()); }
  friend number16 hexp10(number16 a) { return exp10f(a.widened()); }
  friend number16 hlog(number16 a) { return logf(a.widened()); }
  friend number16 hlog2(number16 a) { return log2f(a.widened()); }
  friend number16 hlog10(number16 a) { return log10f(a.widened()); }
  friend number16 hsin(number16 a) { return sinf(a.widened()); }
  friend number16 hcos(number16 a) { return cosf(a.widened()); }
  friend number16 htanh(number16 a) { return tanhf(a.widened()); }
  friend number16 htanh_approx(number16 a) { return htanh(a); }
  friend number16 hceil(number16 a) { return ceilf(a.widened()); }
  friend number16 hfloor(number16 a) { return floorf(a.widened()); }
  friend number16 htrunc(number16 a) { return truncf(a.widened()); }
  friend number16 hrint(number16 a) { return rintf(a.widened()); }

  friend number16 atomicAdd(number16 *address, number16 operand) {
    return atomic_update(address, [=](number16 old) { return old + operand; });
  }

private:
  number16(unsigned short bits, int) : bits_(bits) {}
  float widened() const { return Format::widen(bits_); }

  // The next number up (1) or down (-1), not through zero. The bits order numbers by magnitude.
  number16 next(int upwards) const {
    const bool negative = (bits_ & 0x8000) != 0;
    return from_bits(static_cast<unsigned short>(bits_ + (negative ? -upwards : upwards)));
  }

  static number16 saturate16(number16 a) { return saturate(a.widened()); } // 0 for NaN

  unsigned short bits_;
};

template <typename Format>
inline constexpr bool can_shuffle<number16<Format>> = true;

} // namespace emulator

#include "./own_letters_end.h"

#endif

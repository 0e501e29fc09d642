// Instructions of one thread: arithmetic and logic (PTX ISA 9.0, 9.7.1 to 9.7.5, 9.7.8).
#ifndef EMULATOR_DETAIL_PTX_ARITHMETIC_H
#define EMULATOR_DETAIL_PTX_ARITHMETIC_H

#include "../intrinsics.h"
#include "operands.h"

#include <math.h>

namespace emulator {
namespace ptx {

template <typename T>
using wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, int128, uint128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, s64, u64>,
                       std::conditional_t<std::is_signed_v<T>, s32, u32>>>;

// Integers wrap around: they are added and multiplied as unsigned numbers.
#define EMULATOR_PTX_WRAPPING(name, operation)                                                     \
  template <typename T>                                                                            \
  EMULATOR_PTX T name(T a, T b) {                                                                  \
    if constexpr (std::is_integral_v<T>)                                                           \
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a)                                \
                                operation static_cast<std::make_unsigned_t<T>>(b));                \
    else                                                                                           \
      return a operation b;                                                                        \
  }
EMULATOR_PTX_WRAPPING(sum, +)
EMULATOR_PTX_WRAPPING(difference, -)
EMULATOR_PTX_WRAPPING(product, *)
#undef EMULATOR_PTX_WRAPPING

template <typename T>
EMULATOR_PTX T smaller(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return b < a ? b : a;
  else if constexpr (std::is_floating_point_v<T>)
    return fmin(a, b);
  else if constexpr (sizeof(T) == 4)
    return __hmin2(a, b);
  else
    return __hmin(a, b);
}
template <typename T>
EMULATOR_PTX T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a < b ? b : a;
  else if constexpr (std::is_floating_point_v<T>)
    return fmax(a, b);
  else if constexpr (sizeof(T) == 4)
    return __hmax2(a, b);
  else
    return __hmax(a, b);
}
template <typename T>
EMULATOR_PTX T fused(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::is_same_v<T, float> ? static_cast<T>(fmaf(a, b, c))
                                    : static_cast<T>(::fma(a, b, c));
  else if constexpr (sizeof(T) == 4)
    return __hfma2(a, b, c);
  else
    return __hfma(a, b, c);
}

// The float next to a product of two floats, which a double holds exactly, on the side of zero.
EMULATOR_PTX float toward_zero(double exact) {
  const float nearest = static_cast<float>(exact);
  return fabs(nearest) > fabs(exact) ? nextafterf(nearest, 0.0f) : nearest;
}

#define EMULATOR_PTX_1(name, ...)                                                                  \
  template <typename T, typename D, typename A>                                                    \
  EMULATOR_PTX void name(D &d, const A &a_) {                                                      \
    const T a = as<T>(a_);                                                                         \
    set(d, static_cast<T>(__VA_ARGS__));                                                           \
  }
#define EMULATOR_PTX_2(name, ...)                                                                  \
  template <typename T, typename D, typename A, typename B>                                        \
  EMULATOR_PTX void name(D &d, const A &a_, const B &b_) {                                         \
    const T a = as<T>(a_), b = as<T>(b_);                                                          \
    set(d, static_cast<T>(__VA_ARGS__));                                                           \
  }
#define EMULATOR_PTX_3(name, ...)                                                                  \
  template <typename T, typename D, typename A, typename B, typename C>                            \
  EMULATOR_PTX void name(D &d, const A &a_, const B &b_, const C &c_) {                            \
    const T a = as<T>(a_), b = as<T>(b_), c = as<T>(c_);                                           \
    set(d, static_cast<T>(__VA_ARGS__));                                                           \
  }

EMULATOR_PTX_2(add_, sum(a, b))
EMULATOR_PTX_2(add_rn_, sum(a, b))
EMULATOR_PTX_2(sub_, difference(a, b))
EMULATOR_PTX_2(sub_rn_, difference(a, b))
EMULATOR_PTX_2(mul_, product(a, b))
EMULATOR_PTX_2(mul_rn_, product(a, b))
EMULATOR_PTX_2(mul_lo_, product(a, b))
EMULATOR_PTX_2(mul_hi_, (static_cast<wide<T>>(a) * static_cast<wide<T>>(b)) >> (8 * sizeof(T)))
EMULATOR_PTX_3(mad_lo_, sum(product(a, b), c))
EMULATOR_PTX_3(mad_hi_, sum(static_cast<T>((static_cast<wide<T>>(a) * static_cast<wide<T>>(b)) >>
                                           (8 * sizeof(T))),
                            c))
EMULATOR_PTX_3(mad_, fused(a, b, c))
EMULATOR_PTX_3(mad_rn_, fused(a, b, c))
EMULATOR_PTX_3(fma_rn_, fused(a, b, c))
EMULATOR_PTX_3(fma_rz_, fused(a, b, c))
EMULATOR_PTX_2(mul_rz_, toward_zero(static_cast<double>(a) * b))
EMULATOR_PTX_3(fma_rn_relu_, larger(fused(a, b, c), T(0.0f)))
EMULATOR_PTX_2(div_, a / b)
EMULATOR_PTX_2(div_rn_, a / b)
EMULATOR_PTX_2(rem_, a % b)
EMULATOR_PTX_1(neg_, -a)
EMULATOR_PTX_1(abs_, a < T(0) ? static_cast<T>(-a) : a)
EMULATOR_PTX_2(min_, smaller(a, b))
EMULATOR_PTX_2(max_, larger(a, b))
EMULATOR_PTX_2(and_, a &b)
EMULATOR_PTX_2(or_, a | b)
EMULATOR_PTX_2(xor_, a ^ b)
EMULATOR_PTX_1(not_, std::is_same_v<T, bool> ? !a : ~a)
EMULATOR_PTX_1(ex2_, exp2f(static_cast<float>(a)))
EMULATOR_PTX_1(lg2_, log2f(static_cast<float>(a)))
EMULATOR_PTX_1(rcp_, T(1) / a)
EMULATOR_PTX_1(rcp_rn_, T(1) / a)
EMULATOR_PTX_1(sqrt_, static_cast<T>(::sqrt(static_cast<double>(a))))
EMULATOR_PTX_1(sqrt_rn_, static_cast<T>(::sqrt(static_cast<double>(a))))
EMULATOR_PTX_1(rsqrt_, static_cast<T>(1.0 / ::sqrt(static_cast<double>(a))))
EMULATOR_PTX_1(sin_, sinf(static_cast<float>(a)))
EMULATOR_PTX_1(cos_, cosf(static_cast<float>(a)))
EMULATOR_PTX_1(tanh_, tanhf(static_cast<float>(a)))
EMULATOR_PTX_2(copysign_, copysign(b, a))

template <typename T, typename D, typename A, typename B>
EMULATOR_PTX void mul_wide_(D &d, const A &a, const B &b) {
  set(d, static_cast<wide<T>>(static_cast<wide<T>>(as<T>(a)) * static_cast<wide<T>>(as<T>(b))));
}
template <typename T, typename D, typename A, typename B, typename C>
EMULATOR_PTX void mad_wide_(D &d, const A &a, const B &b, const C &c) {
  set(d, sum(static_cast<wide<T>>(static_cast<wide<T>>(as<T>(a)) * static_cast<wide<T>>(as<T>(b))),
             as<wide<T>>(c)));
}

// The video instructions that add a third operand (9.7.17): only their forms of plain 32-bit numbers.
EMULATOR_PTX_3(vadd_add_, a + b + c)
EMULATOR_PTX_3(vshl_clamp_add_, (b > 31 ? 0 : a << b) + c)
EMULATOR_PTX_3(vshr_clamp_add_, (b > 31 ? 0 : a >> b) + c)

// A shift by the width or more leaves zeros, or the sign.
template <typename T, typename D, typename A, typename B>
EMULATOR_PTX void shl_(D &d, const A &a, const B &b) {
  const u32 by = as<u32>(b);
  set(d, by >= 8 * sizeof(T) ? T(0) : static_cast<T>(as<T>(a) << by));
}
template <typename T, typename D, typename A, typename B>
EMULATOR_PTX void shr_(D &d, const A &a, const B &b) {
  const u32 by = as<u32>(b), most = 8 * sizeof(T) - 1;
  const T value = as<T>(a);
  set(d, by > most ? (value < T(0) ? static_cast<T>(-1) : T(0)) : static_cast<T>(value >> by));
}
EMULATOR_PTX unsigned funnel(u32 low, u32 high, u32 by, bool left) {
  const u64 both = static_cast<u64>(high) << 32 | low;
  return static_cast<unsigned>(left ? both << by >> 32 : both >> by);
}
#define EMULATOR_PTX_FUNNEL(name, left, by)                                                        \
  template <typename T, typename D, typename A, typename B, typename C>                            \
  EMULATOR_PTX void name(D &d, const A &a, const B &b, const C &c) {                               \
    set(d, funnel(as<u32>(a), as<u32>(b), by, left));                                              \
  }
EMULATOR_PTX_FUNNEL(shf_l_wrap_, true, (as<u32>(c) & 31))
EMULATOR_PTX_FUNNEL(shf_r_wrap_, false, (as<u32>(c) & 31))
EMULATOR_PTX_FUNNEL(shf_l_clamp_, true, (as<u32>(c) > 32 ? 32 : as<u32>(c)))
EMULATOR_PTX_FUNNEL(shf_r_clamp_, false, (as<u32>(c) > 32 ? 32 : as<u32>(c)))
#undef EMULATOR_PTX_FUNNEL

// The byte of the table says the result for each of the eight values of three bits.
template <typename T, typename D, typename A, typename B, typename C, typename Table>
EMULATOR_PTX void lop3_(D &d, const A &a_, const B &b_, const C &c_, const Table &table) {
  const u32 a = as<u32>(a_), b = as<u32>(b_), c = as<u32>(c_), rows = as<u32>(table);
  u32 result = 0;
  for (u32 row = 0; row < 8; row++) {
    if (rows >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  set(d, result);
}
template <typename T, typename D, typename A, typename B, typename C>
EMULATOR_PTX void prmt_(D &d, const A &a, const B &b, const C &selector) {
  set(d, __byte_perm(as<u32>(a), as<u32>(b), as<u32>(selector)));
}
template <typename T, typename D, typename A>
EMULATOR_PTX void popc_(D &d, const A &a) {
  set(d, static_cast<u32>(__builtin_popcountll(as<T>(a))));
}
template <typename T, typename D, typename A>
EMULATOR_PTX void clz_(D &d, const A &a) {
  const T value = as<T>(a);
  set(d, value == 0 ? static_cast<u32>(8 * sizeof(T))
                    : static_cast<u32>(__builtin_clzll(value)) - (64 - 8 * sizeof(T)));
}
template <typename T, typename D, typename A>
EMULATOR_PTX void bfind_(D &d, const A &a) {
  T value = as<T>(a);
  if (value < T(0)) value = static_cast<T>(~value);
  set(d, value == 0 ? ~0u : 63 - static_cast<u32>(__builtin_clzll(static_cast<u64>(value))));
}
template <typename T, typename D, typename A>
EMULATOR_PTX void brev_(D &d, const A &a) {
  T value = as<T>(a), reversed = 0;
  for (size_t i = 0; i < 8 * sizeof(T); i++, value >>= 1)
    reversed = static_cast<T>(reversed << 1 | (value & 1));
  set(d, reversed);
}
template <typename T, typename D, typename A, typename B, typename C>
EMULATOR_PTX void bfe_(D &d, const A &a, const B &start_, const C &length_) {
  const u32 start = as<u32>(start_) & 255, length = as<u32>(length_) & 255, size = 8 * sizeof(T);
  const T value = as<T>(a);
  std::make_unsigned_t<T> field =
      start < size ? static_cast<std::make_unsigned_t<T>>(value) >> start : 0;
  if (length < size) field &= length > 0 ? (std::make_unsigned_t<T>(1) << length) - 1 : 0;
  const u32 top = start + length - 1 < size - 1 ? start + length - 1 : size - 1;
  if (std::is_signed_v<T> && length > 0 && length < size && (value >> top & 1))
    field |= ~((std::make_unsigned_t<T>(1) << length) - 1);
  set(d, static_cast<T>(field));
}
template <typename T, typename D, typename A, typename B, typename S, typename L>
EMULATOR_PTX void bfi_(D &d, const A &a, const B &b, const S &start_, const L &length_) {
  const u32 start = as<u32>(start_) & 255, length = as<u32>(length_) & 255, size = 8 * sizeof(T);
  T mask = length >= size ? ~T(0) : static_cast<T>((T(1) << length) - 1);
  mask = start < size ? static_cast<T>(mask << start) : T(0);
  set(d, static_cast<T>((as<T>(b) & ~mask) | (start < size ? as<T>(a) << start & mask : 0)));
}
template <typename T, typename U, typename D, typename A, typename B, typename C>
EMULATOR_PTX void dp4a_(D &d, const A &a, const B &b, const C &c) {
  using byte_a = std::conditional_t<std::is_signed_v<T>, s8, u8>;
  using byte_b = std::conditional_t<std::is_signed_v<U>, s8, u8>;
  s32 result = as<s32>(c);
  for (int i = 0; i < 4; i++)
    result += static_cast<byte_a>(as<u32>(a) >> 8 * i) * static_cast<byte_b>(as<u32>(b) >> 8 * i);
  set(d, result);
}

#undef EMULATOR_PTX_3
#undef EMULATOR_PTX_2
#undef EMULATOR_PTX_1

} // namespace ptx
} // namespace emulator

#endif

// Instructions of one thread: comparison, conversion and moves (PTX ISA 9.0, 9.7.6, 9.7.7 and 9.7.9).
#ifndef EMULATOR_DETAIL_PTX_CONVERSION_H
#define EMULATOR_DETAIL_PTX_CONVERSION_H

#include "arithmetic.h"

namespace emulator {
namespace ptx {

// ---- Comparison ---------------------------------------------------------------------------------

#define EMULATOR_PTX_COMPARE(name, expression)                                                     \
  template <typename T, typename D, typename A, typename B>                                        \
  EMULATOR_PTX void setp_##name##_(D &d, const A &a_, const B &b_) {                               \
    const T a = as<T>(a_), b = as<T>(b_);                                                          \
    d = (expression);                                                                              \
  }                                                                                                \
  template <typename T, typename D, typename A, typename B>                                        \
  EMULATOR_PTX void setp_##name##_and_(D &d, const A &a_, const B &b_, bool other) {               \
    setp_##name##_<T>(d, a_, b_);                                                                  \
    d = d && other;                                                                                \
  }                                                                                                \
  template <typename T, typename D, typename A, typename B>                                        \
  EMULATOR_PTX void setp_##name##_or_(D &d, const A &a_, const B &b_, bool other) {                \
    setp_##name##_<T>(d, a_, b_);                                                                  \
    d = d || other;                                                                                \
  }
EMULATOR_PTX_COMPARE(eq, a == b)
EMULATOR_PTX_COMPARE(ne, a != b)
EMULATOR_PTX_COMPARE(lt, a < b)
EMULATOR_PTX_COMPARE(le, a <= b)
EMULATOR_PTX_COMPARE(gt, b < a)
EMULATOR_PTX_COMPARE(ge, b <= a)
EMULATOR_PTX_COMPARE(lo, a < b)
EMULATOR_PTX_COMPARE(ls, a <= b)
EMULATOR_PTX_COMPARE(hi, b < a)
EMULATOR_PTX_COMPARE(hs, b <= a)
#undef EMULATOR_PTX_COMPARE

template <typename T, typename D, typename A, typename B>
EMULATOR_PTX void selp_(D &d, const A &a, const B &b, bool first) {
  set(d, first ? as<T>(a) : as<T>(b));
}

// ---- Conversion ---------------------------------------------------------------------------------

template <typename To, typename From>
EMULATOR_PTX To converted(From a) {
  if constexpr (std::is_same_v<To, tf32>) {
    unsigned bits;
    (__builtin_memcpy)(&bits, &a, sizeof bits);
    // To 10 bits behind the point: a tie goes away from zero, as cvt.rna does.
    return tf32{(bits + 0x1000) & ~0x1FFFu};
  } else if constexpr (std::is_integral_v<From> || std::is_floating_point_v<From>) {
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
      return saturating_cast<To>(static_cast<double>(a));
    else if constexpr (std::is_integral_v<To> || std::is_floating_point_v<To>)
      return static_cast<To>(a);
    else
      return To(static_cast<float>(a));
  } else {
    if constexpr (std::is_integral_v<To>)
      return saturating_cast<To>(static_cast<double>(static_cast<float>(a)));
    else
      return static_cast<To>(static_cast<float>(a));
  }
}

template <typename From>
EMULATOR_PTX From whole(From a, double (*round)(double)) {
  return static_cast<From>(round(static_cast<double>(a)));
}
#define EMULATOR_PTX_CVT(name, expression)                                                         \
  template <typename To, typename From, typename D, typename A>                                    \
  EMULATOR_PTX void name(D &d, const A &a_) {                                                      \
    const From a = as<From>(a_);                                                                   \
    set(d, converted<To>(expression));                                                             \
  }
EMULATOR_PTX_CVT(cvt_, a)
EMULATOR_PTX_CVT(cvt_rna_, a)
EMULATOR_PTX_CVT(cvt_rn_, a)
EMULATOR_PTX_CVT(cvt_rz_, a)
EMULATOR_PTX_CVT(cvt_rni_, whole(a, ::nearbyint))
EMULATOR_PTX_CVT(cvt_rzi_, whole(a, ::trunc))
EMULATOR_PTX_CVT(cvt_rmi_, whole(a, ::floor))
EMULATOR_PTX_CVT(cvt_rpi_, whole(a, ::ceil))
EMULATOR_PTX_CVT(cvt_sat_, saturate(static_cast<float>(a)))
#undef EMULATOR_PTX_CVT

// Two numbers become a pair; the first is the upper half.
template <typename To, typename From, typename D, typename A, typename B>
EMULATOR_PTX void cvt_rn_(D &d, const A &high, const B &low) {
  set(d, To(as<From>(low), as<From>(high)));
}
template <typename To, typename From, typename D, typename A, typename B>
EMULATOR_PTX void cvt_rn_relu_(D &d, const A &high, const B &low) {
  set(d, To(fmaxf(as<From>(low), 0.0f), fmaxf(as<From>(high), 0.0f)));
}

// ---- Moves --------------------------------------------------------------------------------------

template <typename T, typename D, typename A>
EMULATOR_PTX void mov_(D &d, const A &a) {
  if constexpr (std::is_pointer_v<A>)
    set(d, static_cast<T>(reinterpret_cast<uintptr_t>(a)));
  else
    set(d, as<T>(a));
}
// A register from its halves or quarters, the lowest first, and back.
template <typename T, typename D, typename A, typename B>
EMULATOR_PTX void mov_(D &d, const A &low, const B &high) {
  const u64 mask = sizeof(T) == 8 ? 0xFFFFFFFFull : 0xFFFFull;
  if constexpr (std::is_same_v<T, b128>)
    set(d, T{low, high});
  else
    set(d, static_cast<T>((static_cast<u64>(high) & mask) << (4 * sizeof(T)) |
                          (static_cast<u64>(low) & mask)));
}
template <typename T, typename D, typename A, typename B, typename C, typename E>
EMULATOR_PTX void mov_(D &d, const A &a, const B &b, const C &c, const E &e) {
  const unsigned step = 2 * sizeof(T);
  const u64 mask = (1ull << step) - 1;
  set(d, static_cast<T>((a & mask) | (b & mask) << step | (c & mask) << 2 * step |
                        (e & mask) << 3 * step));
}
template <typename T, typename A, typename B, typename D>
EMULATOR_PTX void mov_unpacked_(A &low, B &high, const D &d) {
  if constexpr (std::is_same_v<T, b128>) {
    low = d.low;
    high = d.high;
  } else {
    const u64 bits = as<T>(d), mask = sizeof(T) == 8 ? 0xFFFFFFFFull : 0xFFFFull;
    low = static_cast<A>(bits & mask);
    high = static_cast<B>(bits >> (4 * sizeof(T)) & mask);
  }
}

} // namespace ptx
} // namespace emulator

#endif

// The arithmetic that __half2 and __nv_bfloat162 share; it works element by element.
#ifndef EMULATOR_DETAIL_NUMBER16_PAIR_H
#define EMULATOR_DETAIL_NUMBER16_PAIR_H

#include "number16.h"
#include "vector_types.h"

namespace emulator {

template <typename Format>
struct alignas(4) number16_pair {
  using number = number16<Format>;
  number x, y;

  number16_pair() = default;
  number16_pair(number x, number y) : x(x), y(y) {}
  // It is copied by one access of 4 bytes, as on a GPU; see vector_types.h.
  number16_pair(const number16_pair &other) { *this = other; }
  number16_pair &operator=(const number16_pair &other) {
    typedef unsigned int __attribute__((may_alias)) whole;
    *reinterpret_cast<whole *>(this) = *reinterpret_cast<const whole *>(&other);
    return *this;
  }

  number16_pair &operator+=(const number16_pair &other) { return *this = *this + other; }
  number16_pair &operator-=(const number16_pair &other) { return *this = *this - other; }
  number16_pair &operator*=(const number16_pair &other) { return *this = *this * other; }
  number16_pair &operator/=(const number16_pair &other) { return *this = *this / other; }
  number16_pair &operator++() { return *this += number16_pair(1.0f, 1.0f); }
  number16_pair &operator--() { return *this -= number16_pair(1.0f, 1.0f); }

// Arguments are copied by the caller, so that a report names its line and not one of these, and an access of 4 bytes.
#define EMULATOR_UNARY(name, of_element)                                                           \
  friend number16_pair name(number16_pair a) {                                                     \
    return number16_pair(of_element(a.x), of_element(a.y));                                        \
  }
#define EMULATOR_BINARY(name, of_element)                                                          \
  friend number16_pair name(number16_pair a, number16_pair b) {                                    \
    return number16_pair(of_element(a.x, b.x), of_element(a.y, b.y));                              \
  }
#define EMULATOR_TERNARY(name, of_element)                                                         \
  friend number16_pair name(number16_pair a, number16_pair b, number16_pair c) {                   \
    return number16_pair(of_element(a.x, b.x, c.x), of_element(a.y, b.y, c.y));                    \
  }

  EMULATOR_BINARY(operator+, __hadd)
  EMULATOR_BINARY(operator-, __hsub)
  EMULATOR_BINARY(operator*, __hmul)
  EMULATOR_BINARY(operator/, __hdiv)
  EMULATOR_UNARY(operator+, +)
  EMULATOR_UNARY(operator-, __hneg)
  EMULATOR_BINARY(__hadd2, __hadd)
  EMULATOR_BINARY(__hsub2, __hsub)
  EMULATOR_BINARY(__hmul2, __hmul)
  EMULATOR_BINARY(__h2div, __hdiv)
  EMULATOR_BINARY(__hadd2_rn, __hadd)
  EMULATOR_BINARY(__hsub2_rn, __hsub)
  EMULATOR_BINARY(__hmul2_rn, __hmul)
  EMULATOR_BINARY(__hadd2_sat, __hadd_sat)
  EMULATOR_BINARY(__hsub2_sat, __hsub_sat)
  EMULATOR_BINARY(__hmul2_sat, __hmul_sat)
  EMULATOR_TERNARY(__hfma2, __hfma)
  EMULATOR_TERNARY(__hfma2_sat, __hfma_sat)
  EMULATOR_TERNARY(__hfma2_relu, __hfma_relu)
  EMULATOR_UNARY(__hneg2, __hneg)
  EMULATOR_UNARY(__habs2, __habs)
  EMULATOR_BINARY(__hmax2, __hmax)
  EMULATOR_BINARY(__hmin2, __hmin)
  EMULATOR_BINARY(__hmax2_nan, __hmax_nan)
  EMULATOR_BINARY(__hmin2_nan, __hmin_nan)
  EMULATOR_UNARY(h2sqrt, hsqrt)
  EMULATOR_UNARY(h2rsqrt, hrsqrt)
  EMULATOR_UNARY(h2rcp, hrcp)
  EMULATOR_UNARY(h2exp, hexp)
  EMULATOR_UNARY(h2exp2, hexp2)
  EMULATOR_UNARY(h2exp10, hexp10)
  EMULATOR_UNARY(h2log, hlog)
  EMULATOR_UNARY(h2log2, hlog2)
  EMULATOR_UNARY(h2log10, hlog10)
  EMULATOR_UNARY(h2sin, hsin)
  EMULATOR_UNARY(h2cos, hcos)
  EMULATOR_UNARY(h2tanh, htanh)
  EMULATOR_UNARY(h2tanh_approx, htanh)
  EMULATOR_UNARY(h2ceil, hceil)
  EMULATOR_UNARY(h2floor, hfloor)
  EMULATOR_UNARY(h2trunc, htrunc)
  EMULATOR_UNARY(h2rint, hrint)
#undef EMULATOR_TERNARY
#undef EMULATOR_BINARY
#undef EMULATOR_UNARY

// __heq2 gives 1.0 or 0.0 for each element, __hbeq2 whether both are equal,
// and __heq2_mask 16 bits for each element, which are all ones if it is equal.
#define EMULATOR_COMPARISON(relation)                                                              \
  friend number16_pair __h##relation##2(number16_pair a, number16_pair b) {                        \
    return number16_pair(__h##relation(a.x, b.x) ? 1.0f : 0.0f,                                    \
                         __h##relation(a.y, b.y) ? 1.0f : 0.0f);                                   \
  }                                                                                                \
  friend bool __hb##relation##2(number16_pair a, number16_pair b) {                                \
    return __h##relation(a.x, b.x) && __h##relation(a.y, b.y);                                     \
  }                                                                                                \
  friend unsigned __h##relation##2_mask(number16_pair a, number16_pair b) {                        \
    return (__h##relation(a.x, b.x) ? 0xffffu : 0) | (__h##relation(a.y, b.y) ? 0xffff0000u : 0);  \
  }
  EMULATOR_COMPARISON(eq)
  EMULATOR_COMPARISON(ne)
  EMULATOR_COMPARISON(lt)
  EMULATOR_COMPARISON(le)
  EMULATOR_COMPARISON(gt)
  EMULATOR_COMPARISON(ge)
  EMULATOR_COMPARISON(equ)
  EMULATOR_COMPARISON(neu)
  EMULATOR_COMPARISON(ltu)
  EMULATOR_COMPARISON(leu)
  EMULATOR_COMPARISON(gtu)
  EMULATOR_COMPARISON(geu)
#undef EMULATOR_COMPARISON

  friend bool operator==(const number16_pair &a, const number16_pair &b) { return __hbeq2(a, b); }
  friend bool operator!=(const number16_pair &a, const number16_pair &b) { return __hbneu2(a, b); }
  friend bool operator<(const number16_pair &a, const number16_pair &b) { return __hblt2(a, b); }
  friend bool operator<=(const number16_pair &a, const number16_pair &b) { return __hble2(a, b); }
  friend bool operator>(const number16_pair &a, const number16_pair &b) { return __hbgt2(a, b); }
  friend bool operator>=(const number16_pair &a, const number16_pair &b) { return __hbge2(a, b); }
  friend number16_pair __hisnan2(const number16_pair &a) {
    return number16_pair(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
  }
  // Computes the complex product a * b + c; x is the real part.
  friend number16_pair __hcmadd(const number16_pair &a, const number16_pair &b,
                                const number16_pair &c) {
    return number16_pair(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                         __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
  }

  friend float __low2float(const number16_pair &a) { return a.x; }
  friend float __high2float(const number16_pair &a) { return a.y; }
  friend number16_pair __lowhigh2highlow(const number16_pair &a) { return number16_pair(a.y, a.x); }

  // On a GPU each element is added separately, so a pair may be seen half updated; here it is not.
  friend number16_pair atomicAdd(number16_pair *address, const number16_pair &operand) {
    return atomic_update(address, [=](number16_pair old) { return old + operand; });
  }
};

template <typename Format>
inline constexpr bool can_shuffle<number16_pair<Format>> = true;

} // namespace emulator

#endif

// Bit, integer, cast and memory intrinsics (CUDA Math API reference, "Integer Intrinsics" and "Type
// Casting Intrinsics"; CUDA C++ Programming Guide, "Load Functions Using Cache Hints").
#ifndef EMULATOR_DETAIL_INTRINSICS_H
#define EMULATOR_DETAIL_INTRINSICS_H

#include <limits>
#include <math.h>

namespace emulator {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

template <typename To, typename From>
To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  (__builtin_memcpy)(&to, &from, sizeof to);
  return to;
}

// Converts a number that is already whole to the nearest integer of the type; NaN becomes 0.
template <typename Integer>
Integer saturating_cast(double whole) {
  using limits = std::numeric_limits<Integer>;
  if (isnan(whole)) return 0;
  if (whole >= static_cast<double>(limits::max())) return limits::max();
  if (whole <= static_cast<double>(limits::min())) return limits::min();
  return static_cast<Integer>(whole);
}

// Rounds half way between two integers to the even one.
inline double round_even(double x) { return nearbyint(x); }

} // namespace emulator

// ---- Bits ---------------------------------------------------------------------------------------

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); } // 1 for the lowest bit, 0 when there is none
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

// The place of the n-th 1 from bit `base` on, upwards or, for a negative n, downwards; n = 0 asks for bit `base` itself. All
// ones when there is none.
inline unsigned __fns(unsigned mask, unsigned base, int n) {
  const int step = n < 0 ? -1 : 1;
  int wanted = n == 0 ? 1 : abs(n);
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1) != 0 && --wanted == 0) return static_cast<unsigned>(bit);
    if (n == 0) break;
  }
  return ~0u;
}

inline unsigned long long __brevll(unsigned long long x) {
  x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
  return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

// Byte i of the result is byte selector[4i+2:4i] of y:x.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned select = selector >> 4 * i & 7;
    result |= static_cast<unsigned>(bytes >> 8 * select & 0xff) << 8 * i;
  }
  return result;
}

// Return the upper or lower word of high:low shifted by 0 to 31 bits (`c`: by 0 to 32).
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(
      (static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// ---- Integers -----------------------------------------------------------------------------------

inline int __mul24(int a, int b) { // of the low 24 bits, with their sign
  const auto low = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(low(a)) * low(b));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<emulator::int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<emulator::uint128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(llabs(static_cast<long long>(a) - b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
// Half of the sum, which itself may need one bit more: rounded down, or up for the names with an r.
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
inline unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

// ---- Casts --------------------------------------------------------------------------------------

inline int __float_as_int(float x) { return emulator::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return emulator::bit_cast<unsigned>(x); }
// The sum of four products of bytes, and a number.
#define EMULATOR_DP4A(Result, A, B, ByteA, ByteB)                                                  \
  inline Result __dp4a(A a, B b, Result sum) {                                                     \
    for (int i = 0; i < 32; i += 8)                                                                \
      sum += static_cast<Result>(static_cast<ByteA>(a >> i)) * static_cast<ByteB>(b >> i);         \
    return sum;                                                                                    \
  }
// The sum of two products of 16 bits and a byte, of the low or the high bytes, and a number.
#define EMULATOR_DP2A(name, Result, Half, Byte, by)                                                \
  inline Result name(Result a, Result b, Result sum) {                                             \
    for (int i = 0; i < 2; i++)                                                                    \
      sum += static_cast<Result>(static_cast<Half>(a >> 16 * i)) *                                 \
             static_cast<Byte>(b >> (by + 8 * i));                                                 \
    return sum;                                                                                    \
  }
EMULATOR_DP4A(int, int, int, signed char, signed char)
EMULATOR_DP4A(unsigned, unsigned, unsigned, unsigned char, unsigned char)
EMULATOR_DP2A(__dp2a_lo, int, short, signed char, 0)
EMULATOR_DP2A(__dp2a_hi, int, short, signed char, 16)
EMULATOR_DP2A(__dp2a_lo, unsigned, unsigned short, unsigned char, 0)
EMULATOR_DP2A(__dp2a_hi, unsigned, unsigned short, unsigned char, 16)
#undef EMULATOR_DP4A
#undef EMULATOR_DP2A

// The same of vectors.
#define EMULATOR_DP_OF_VECTORS(name, Sum, A, B)                                                    \
  inline Sum name(A a, B b, Sum sum) {                                                             \
    return name(emulator::bit_cast<Sum>(a), emulator::bit_cast<Sum>(b), sum);                      \
  }
EMULATOR_DP_OF_VECTORS(__dp4a, int, char4, char4)
EMULATOR_DP_OF_VECTORS(__dp4a, unsigned, uchar4, uchar4)
EMULATOR_DP_OF_VECTORS(__dp2a_lo, int, short2, char4)
EMULATOR_DP_OF_VECTORS(__dp2a_hi, int, short2, char4)
EMULATOR_DP_OF_VECTORS(__dp2a_lo, unsigned, ushort2, uchar4)
EMULATOR_DP_OF_VECTORS(__dp2a_hi, unsigned, ushort2, uchar4)
#undef EMULATOR_DP_OF_VECTORS

inline float __int_as_float(int x) { return emulator::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return emulator::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return emulator::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return emulator::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(
      static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                             static_cast<unsigned>(low)));
}

// The suffix _rn rounds to nearest, ties to even, _rz towards 0, _ru up, and _rd down.
#define EMULATOR_TO_INTEGER(From, from, to, Integer)                                               \
  inline Integer __##from##2##to##_rn(From x) {                                                    \
    return emulator::saturating_cast<Integer>(emulator::round_even(x));                            \
  }                                                                                                \
  inline Integer __##from##2##to##_rz(From x) {                                                    \
    return emulator::saturating_cast<Integer>(trunc(x));                                           \
  }                                                                                                \
  inline Integer __##from##2##to##_ru(From x) {                                                    \
    return emulator::saturating_cast<Integer>(ceil(x));                                            \
  }                                                                                                \
  inline Integer __##from##2##to##_rd(From x) {                                                    \
    return emulator::saturating_cast<Integer>(floor(x));                                           \
  }
EMULATOR_TO_INTEGER(float, float, int, int)
EMULATOR_TO_INTEGER(float, float, uint, unsigned int)
EMULATOR_TO_INTEGER(float, float, ll, long long)
EMULATOR_TO_INTEGER(float, float, ull, unsigned long long)
EMULATOR_TO_INTEGER(double, double, int, int)
EMULATOR_TO_INTEGER(double, double, uint, unsigned int)
EMULATOR_TO_INTEGER(double, double, ll, long long)
EMULATOR_TO_INTEGER(double, double, ull, unsigned long long)
#undef EMULATOR_TO_INTEGER

inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- Hints for the compiler ---------------------------------------------------------------------

// As on a GPU the condition is not evaluated. clang++ has a function of this name itself.
#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

// ---- Memory: the cache hints change nothing here ------------------------------------------------

#define EMULATOR_LOAD(name)                                                                        \
  template <typename T>                                                                            \
  inline T name(const T *address) {                                                                \
    return *address;                                                                               \
  }
EMULATOR_LOAD(__ldg)
EMULATOR_LOAD(__ldca)
EMULATOR_LOAD(__ldcg)
EMULATOR_LOAD(__ldcs)
EMULATOR_LOAD(__ldcv)
EMULATOR_LOAD(__ldlu)
#undef EMULATOR_LOAD

// The value may be of another type, which is converted.
#define EMULATOR_STORE(name)                                                                       \
  template <typename T>                                                                            \
  inline void name(T *address, std::enable_if_t<true, T> value) {                                  \
    *address = value;                                                                              \
  }
EMULATOR_STORE(__stcg)
EMULATOR_STORE(__stcs)
EMULATOR_STORE(__stwb)
EMULATOR_STORE(__stwt)
#undef EMULATOR_STORE

#endif

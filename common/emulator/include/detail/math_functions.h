// The functions of the CUDA Math API that <math.h> lacks. The fast approximations
// (__expf and others) are as exact here as the functions that they approximate.
#ifndef EMULATOR_DETAIL_MATH_FUNCTIONS_H
#define EMULATOR_DETAIL_MATH_FUNCTIONS_H

#include <math.h>
#include <stdlib.h>

// ---- max and min: of mixed operands as CUDA has them --------------------------------------------

#define EMULATOR_MAX_MIN(Result, A, B)                                                             \
  inline Result max(A a, B b) {                                                                    \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b);                           \
    return x < y ? y : x;                                                                          \
  }                                                                                                \
  inline Result min(A a, B b) {                                                                    \
    const Result x = static_cast<Result>(a), y = static_cast<Result>(b);                           \
    return y < x ? y : x;                                                                          \
  }
#define EMULATOR_INTEGER_MAX_MIN(Signed, Unsigned)                                                 \
  EMULATOR_MAX_MIN(Signed, Signed, Signed)                                                         \
  EMULATOR_MAX_MIN(Unsigned, Unsigned, Unsigned)                                                   \
  EMULATOR_MAX_MIN(Unsigned, Signed, Unsigned)                                                     \
  EMULATOR_MAX_MIN(Unsigned, Unsigned, Signed)
EMULATOR_INTEGER_MAX_MIN(int, unsigned int)
EMULATOR_INTEGER_MAX_MIN(long, unsigned long)
EMULATOR_INTEGER_MAX_MIN(long long, unsigned long long)
#undef EMULATOR_INTEGER_MAX_MIN
#undef EMULATOR_MAX_MIN

// If one operand is NaN, they return the other one, the number.
inline float max(float a, float b) { return fmaxf(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double max(double a, float b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double min(double a, float b) { return fmin(a, b); }

// ---- Functions beyond C -------------------------------------------------------------------------

inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) { return static_cast<float>(1.0 / hypot(x, y)); }
inline float norm3df(float x, float y, float z) {
  return static_cast<float>(
      sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z));
}
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * fmod(x, 2.0))); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * fmod(x, 2.0))); }
inline double sinpi(double x) { return sin(M_PI * fmod(x, 2.0)); }
inline double cospi(double x) { return cos(M_PI * fmod(x, 2.0)); }
inline float normcdff(float x) { return static_cast<float>(0.5 * erfc(-x * M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float fdividef(float a, float b) { return a / b; }
inline float saturate(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
inline float __saturatef(float x) { return saturate(x); }

// ---- Fast approximations ------------------------------------------------------------------------
// glibc declares some of these names as its own functions, so the linkage must be the same.

extern "C" {
inline float __expf(float x) noexcept { return expf(x); }
inline float __exp10f(float x) noexcept { return exp10f(x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __log10f(float x) noexcept { return log10f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }
inline float __tanhf(float x) noexcept { return tanhf(x); }
inline void __sincosf(float x, float *sine, float *cosine) noexcept { sincosf(x, sine, cosine); }
}
inline float __fdividef(float a, float b) { return a / b; }

// ---- Operations that are never contracted into a fused one --------------------------------------

// g++ contracts across expressions, and has a built-in function that prevents it. clang++ contracts
// only within an expression (-ffp-contract=on), and each of these is an expression of its own.
#ifdef __clang__
#define EMULATOR_NOT_CONTRACTED(value) (value)
#else
#define EMULATOR_NOT_CONTRACTED(value) __builtin_assoc_barrier(value)
#endif

inline float __fadd_rn(float a, float b) { return EMULATOR_NOT_CONTRACTED(a + b); }
inline float __fsub_rn(float a, float b) { return EMULATOR_NOT_CONTRACTED(a - b); }
inline float __fmul_rn(float a, float b) { return EMULATOR_NOT_CONTRACTED(a * b); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline double __dadd_rn(double a, double b) { return EMULATOR_NOT_CONTRACTED(a + b); }
inline double __dsub_rn(double a, double b) { return EMULATOR_NOT_CONTRACTED(a - b); }
inline double __dmul_rn(double a, double b) { return EMULATOR_NOT_CONTRACTED(a * b); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }

inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
inline long long llmin(long long a, long long b) { return b < a ? b : a; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }

#undef EMULATOR_NOT_CONTRACTED

#endif

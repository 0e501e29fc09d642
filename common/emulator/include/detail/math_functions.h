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
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline double norm(int count, const double *x) {
  double length = 0;
  for (int i = 0; i < count; i++) length = hypot(length, x[i]);
  return length;
}
inline float normf(int count, const float *x) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += static_cast<double>(x[i]) * x[i];
  return static_cast<float>(sqrt(sum));
}
inline double rnorm(int count, const double *x) { return 1.0 / norm(count, x); }
inline float rnormf(int count, const float *x) { return 1.0f / normf(count, x); }
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline double norm4d(double x, double y, double z, double w) { return hypot(norm3d(x, y, z), w); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}
// The angle is reduced before it is multiplied by pi, so that whole and half numbers give exact zeros.
inline double sinpi(double x) {
  const double turn = remainder(x, 2.0);
  return sin(M_PI * (fabs(turn) > 0.5 ? copysign(1.0, turn) - turn : turn));
}
inline double cospi(double x) { return sin(M_PI * (0.5 - fabs(remainder(x, 2.0)))); }
inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
inline float cospif(float x) { return static_cast<float>(cospi(x)); }
inline void sincospi(double x, double *sine, double *cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float *sine, float *cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float normcdff(float x) { return static_cast<float>(0.5 * erfc(-x * M_SQRT1_2)); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
// The inverse of erf and of erfc, by Halley's method. The first guess for erfc is that of Abramowitz and Stegun, 26.2.22.
inline double erfinv(double x);
inline double erfcinv(double x) {
  if (x > 0.5 && x < 1.5) return erfinv(1.0 - x);
  if (!(x > 0 && x < 2)) return x == 0 ? HUGE_VAL : x == 2 ? -HUGE_VAL : NAN;
  const double tail = x < 1 ? x : 2 - x, t = sqrt(-2 * log(tail / 2));
  double y = M_SQRT1_2 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
  for (int i = 0; i < 4; i++) {
    const double step = (erfc(y) - tail) / (M_2_SQRTPI * exp(-y * y));
    y += step / (1 - y * step);
  }
  return x < 1 ? y : -y;
}
inline double erfinv(double x) {
  if (!(fabs(x) <= 0.5)) return erfcinv(1.0 - x);
  double y = x / M_2_SQRTPI;
  for (int i = 0; i < 4; i++) {
    const double step = (erf(y) - x) / (M_2_SQRTPI * exp(-y * y));
    y -= step / (1 + y * step);
  }
  return y;
}
inline double normcdfinv(double x) { return -M_SQRT2 * erfcinv(2 * x); }
inline float erfinvf(float x) { return static_cast<float>(erfinv(x)); }
inline float erfcinvf(float x) { return static_cast<float>(erfcinv(x)); }
inline float normcdfinvf(float x) { return static_cast<float>(normcdfinv(x)); }
// exp(x * x) * erfc(x), of which erfc becomes 0 from 27 on: there the series for large numbers is exact.
inline double erfcx(double x) {
  if (x < 25) return exp(x * x) * erfc(x);
  const double square = 1 / (2 * x * x);
  return 0.5 * M_2_SQRTPI / x *
         (1 - square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square))));
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
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

// Stand-in for CUDA's <cuComplex.h>: complex numbers as vectors of two. C++.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#include "detail/own_letters.h"

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

// A quotient is computed with the divisor scaled to a length near 1, whose square neither overflows nor vanishes.
#define EMULATOR_COMPLEX(T, Real, name, f)                                                         \
  inline T make_##name(Real x, Real y) { return T{x, y}; }                                         \
  inline Real cuCreal##f(T a) { return a.x; }                                                      \
  inline Real cuCimag##f(T a) { return a.y; }                                                      \
  inline T cuConj##f(T a) { return T{a.x, -a.y}; }                                                 \
  inline T cuCadd##f(T a, T b) { return T{a.x + b.x, a.y + b.y}; }                                 \
  inline T cuCsub##f(T a, T b) { return T{a.x - b.x, a.y - b.y}; }                                 \
  inline T cuCmul##f(T a, T b) { return T{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }         \
  inline T cuCdiv##f(T a, T b) {                                                                   \
    const Real scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                          \
    const T u = {a.x * scale, a.y * scale}, v = {b.x * scale, b.y * scale};                        \
    const Real square = v.x * v.x + v.y * v.y;                                                     \
    return T{(u.x * v.x + u.y * v.y) / square, (u.y * v.x - u.x * v.y) / square};                  \
  }                                                                                                \
  inline T cuCfma##f(T a, T b, T c) { return cuCadd##f(cuCmul##f(a, b), c); }                      \
  inline Real cuCabs##f(T a) { return hypot##f(a.x, a.y); }
EMULATOR_COMPLEX(cuFloatComplex, float, cuFloatComplex, f)
EMULATOR_COMPLEX(cuDoubleComplex, double, cuDoubleComplex, )
#undef EMULATOR_COMPLEX
inline cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return cuDoubleComplex{a.x, a.y};
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return cuFloatComplex{static_cast<float>(a.x), static_cast<float>(a.y)};
}

#include "detail/own_letters_end.h"

#endif

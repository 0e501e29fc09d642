// Stand-in for CUDA's <cuComplex.h>: complex numbers as vectors of two. C++.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

#define EMULATOR_COMPLEX(Complex, Real, f, root)                                                   \
  inline Complex make_cu##f##Complex(Real x, Real y) { return Complex{x, y}; }                     \
  inline Real cuCreal##root(Complex a) { return a.x; }                                             \
  inline Real cuCimag##root(Complex a) { return a.y; }                                             \
  inline Complex cuConj##root(Complex a) { return Complex{a.x, -a.y}; }                            \
  inline Complex cuCadd##root(Complex a, Complex b) { return Complex{a.x + b.x, a.y + b.y}; }      \
  inline Complex cuCsub##root(Complex a, Complex b) { return Complex{a.x - b.x, a.y - b.y}; }      \
  inline Complex cuCmul##root(Complex a, Complex b) {                                              \
    return Complex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                  \
  }                                                                                                \
  inline Complex cuCdiv##root(Complex a, Complex b) {                                              \
    const Real square = b.x * b.x + b.y * b.y;                                                     \
    return Complex{(a.x * b.x + a.y * b.y) / square, (a.y * b.x - a.x * b.y) / square};            \
  }                                                                                                \
  inline Complex cuCfma##root(Complex a, Complex b, Complex c) {                                   \
    return cuCadd##root(cuCmul##root(a, b), c);                                                    \
  }
EMULATOR_COMPLEX(cuFloatComplex, float, Float, f)
EMULATOR_COMPLEX(cuDoubleComplex, double, Double, )
#undef EMULATOR_COMPLEX
inline float cuCabsf(cuFloatComplex a) { return hypotf(a.x, a.y); }
inline double cuCabs(cuDoubleComplex a) { return hypot(a.x, a.y); }
inline cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }

#endif

// Tests that results are exact where CUDA promises it: roundings in a direction, and complex numbers of whole numbers.
#include "device_array.h"
#include "semantics.h"

#include <cuComplex.h>

// ---- Roundings ----------------------------------------------------------------------------------

#define CALL(call, expected)     *next++ = call;
#define EXPECTED(call, expected) expected,
#define NAME(call, expected)     #call,

// Exact zeros. And where the exact result lies between two numbers, however near to one of them, it is rounded to one side.
#define EACH_ROUNDING(F)                                                                           \
  F(sinpi(3 * wide), 0)                                                                            \
  F(cospi(wide / 2), 0)                                                                            \
  F(cospi(3 * wide), -1)                                                                           \
  F(sinpif(one), 0)                                                                                \
  F(cospif(three / 2), 0)                                                                          \
  F(__fadd_ru(one, tiny), 1 + 0x1p-23)                                                             \
  F(__fadd_rd(one, -tiny), 1 - 0x1p-24)                                                            \
  F(__fadd_rz(-one, tiny), -1 + 0x1p-24)                                                           \
  F(__fsub_ru(one, tiny), 1)                                                                       \
  F(__fmaf_ru(one, one, tiny), 1 + 0x1p-23)                                                        \
  F(__fdiv_rd(one, three), 0x1.555554p-2)                                                          \
  F(__frcp_ru(three), 0x1.555556p-2)                                                               \
  F(__fsqrt_rd(three), 0x1.bb67aep0)                                                               \
  F(__dadd_ru(wide, tiny), 1 + 0x1p-52)                                                            \
  F(__dadd_rd(wide, -tiny), 1 - 0x1p-53)                                                           \
  F(__dsub_rz(-wide, -tiny), -1 + 0x1p-53)                                                         \
  F(__dmul_ru(wide + 0x1p-52, wide + 0x1p-52), 1 + 0x1.8p-51)                                      \
  F(__dmul_rd(wide + 0x1p-52, wide + 0x1p-52), 1 + 0x1p-51)                                        \
  F(__fma_ru(wide, wide, tiny), 1 + 0x1p-52)                                                       \
  F(__ddiv_ru(wide, 3.0), 0x1.5555555555556p-2)                                                    \
  F(__dsqrt_rd(2 * wide), 0x1.6a09e667f3bccp0)                                                     \
  F(__double2float_ru(wide + 0x1p-50), 1 + 0x1p-23)                                                \
  F(__double2float_rz(-wide - 0x1p-50), -1)                                                        \
  F(__int2float_rd(integer), 16777216)                                                             \
  F(__uint2float_ru(static_cast<unsigned>(integer)), 16777218)                                     \
  F(__ll2float_rz(-static_cast<long long>(integer)), -16777216)                                    \
  F(__ull2float_rd(~0ull - static_cast<unsigned>(integer)), 0x1.fffffep63)                         \
  F(__ll2double_ru((1ll << 53) + integer % 2), 0x1p53 + 2)                                         \
  F(__ull2double_rd(~0ull - static_cast<unsigned>(integer % 2)), 0x1.fffffffffffffp63)             \
  F(__ull2double_rn((1ull << 53) + 1), 0x1p53)

__global__ void roundings_kernel(double *out, float one, float three, float tiny, double wide,
                                 int integer) {
  double *next = out;
  EACH_ROUNDING(CALL)
}

bool functions_roundings(error_text *error) {
  static const char *const names[] = {EACH_ROUNDING(NAME)};
  static const double expected[] = {EACH_ROUNDING(EXPECTED)};
  const size_t count = sizeof names / sizeof names[0];
  device_array<double> out(count);
  roundings_kernel<<<1, 1>>>(out.data(), 1.0f, 3.0f, 1e-30f, 1.0, 16777217);
  if (!device_finished(error, "roundings_kernel")) return false;
  const std::vector<double> got = out.host();
  for (size_t i = 0; i < count; i++) {
    if (got[i] != expected[i])
      return fail(error, "%s is %a, not %a", names[i], got[i], expected[i]);
  }
  return true;
}

// ---- Complex numbers ----------------------------------------------------------------------------

// The numbers are such that each operation is exact, in whatever order.
__global__ void complex_kernel(double *out, double huge) {
  const cuDoubleComplex a = make_cuDoubleComplex(1, 3);
  const cuFloatComplex b = make_cuFloatComplex(3, -4);
  const cuDoubleComplex quotient = cuCdiv(a, make_cuDoubleComplex(huge, huge));
  const cuDoubleComplex product = cuCmul(a, cuComplexFloatToDouble(cuConjf(b)));
  out[0] = cuCreal(quotient) * huge;
  out[1] = cuCimag(quotient) * huge;
  out[2] = cuCreal(product);
  out[3] = cuCimag(product);
  out[4] = cuCabsf(cuCaddf(b, make_cuComplex(-3, -1)));
  out[5] = cuCimagf(cuComplexDoubleToFloat(cuCsub(a, product)));
}

bool functions_complex(error_text *error) {
  const std::vector<double> expected = {2, 1, -9, 13, 5, -10};
  device_array<double> out(expected.size());
  complex_kernel<<<1, 1>>>(out.data(), 0x1p700);
  if (!device_finished(error, "complex_kernel")) return false;
  const std::vector<double> got = out.host();
  for (size_t i = 0; i < expected.size(); i++) {
    if (got[i] != expected[i])
      return fail(error, "out[%zu] of complex_kernel is %g, not %g", i, got[i], expected[i]);
  }
  return true;
}

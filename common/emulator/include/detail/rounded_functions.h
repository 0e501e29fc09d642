// Functions of the CUDA Math API that round in a direction: _rd down, _ru up, and _rz towards 0. The processor can do so,
// and rounds the exact result, as a GPU does.
#ifndef EMULATOR_DETAIL_ROUNDED_FUNCTIONS_H
#define EMULATOR_DETAIL_ROUNDED_FUNCTIONS_H

#include <fenv.h>
#include <math.h>

namespace emulator {
// The compiler knows nothing of the mode, and volatile operands keep it from computing before the mode is set.
template <int MODE, typename Result, typename Operand>
Result rounded(Result (*operation)(Operand, Operand, Operand), Operand a, Operand b = 0,
               Operand c = 0) {
  const volatile Operand x = a, y = b, z = c;
  const int mode = fegetround();
  fesetround(MODE);
  const volatile Result result = operation(x, y, z);
  fesetround(mode);
  return result;
}
} // namespace emulator

#define EMULATOR_OPERATION(Result, Operand, expression)                                            \
  [](Operand a, [[maybe_unused]] Operand b, [[maybe_unused]] Operand c) -> Result {                \
    return static_cast<Result>(expression);                                                        \
  }
#define EMULATOR_ROUNDED_1(name, MODE, Result, Operand, expression)                                \
  inline Result name(Operand a) {                                                                  \
    return emulator::rounded<MODE, Result, Operand>(                                               \
        EMULATOR_OPERATION(Result, Operand, expression), a);                                       \
  }
#define EMULATOR_ROUNDED_2(name, MODE, T, expression)                                              \
  inline T name(T a, T b) {                                                                        \
    return emulator::rounded<MODE, T, T>(EMULATOR_OPERATION(T, T, expression), a, b);              \
  }
#define EMULATOR_ROUNDED_3(name, MODE, T, expression)                                              \
  inline T name(T a, T b, T c) {                                                                   \
    return emulator::rounded<MODE, T, T>(EMULATOR_OPERATION(T, T, expression), a, b, c);           \
  }
#define EMULATOR_ROUNDED(suffix, MODE)                                                             \
  EMULATOR_ROUNDED_2(__fadd_##suffix, MODE, float, a + b)                                          \
  EMULATOR_ROUNDED_2(__fsub_##suffix, MODE, float, a - b)                                          \
  EMULATOR_ROUNDED_2(__fmul_##suffix, MODE, float, a *b)                                           \
  EMULATOR_ROUNDED_2(__fdiv_##suffix, MODE, float, a / b)                                          \
  EMULATOR_ROUNDED_3(__fmaf_##suffix, MODE, float, fmaf(a, b, c))                                  \
  EMULATOR_ROUNDED_1(__frcp_##suffix, MODE, float, float, 1.0f / a)                                \
  EMULATOR_ROUNDED_1(__fsqrt_##suffix, MODE, float, float, sqrtf(a))                               \
  EMULATOR_ROUNDED_2(__dadd_##suffix, MODE, double, a + b)                                         \
  EMULATOR_ROUNDED_2(__dsub_##suffix, MODE, double, a - b)                                         \
  EMULATOR_ROUNDED_2(__dmul_##suffix, MODE, double, a *b)                                          \
  EMULATOR_ROUNDED_2(__ddiv_##suffix, MODE, double, a / b)                                         \
  EMULATOR_ROUNDED_3(__fma_##suffix, MODE, double, fma(a, b, c))                                   \
  EMULATOR_ROUNDED_1(__drcp_##suffix, MODE, double, double, 1.0 / a)                               \
  EMULATOR_ROUNDED_1(__dsqrt_##suffix, MODE, double, double, sqrt(a))                              \
  EMULATOR_ROUNDED_1(__double2float_##suffix, MODE, float, double, a)                              \
  EMULATOR_ROUNDED_1(__int2float_##suffix, MODE, float, int, a)                                    \
  EMULATOR_ROUNDED_1(__uint2float_##suffix, MODE, float, unsigned, a)                              \
  EMULATOR_ROUNDED_1(__ll2float_##suffix, MODE, float, long long, a)                               \
  EMULATOR_ROUNDED_1(__ull2float_##suffix, MODE, float, unsigned long long, a)                     \
  EMULATOR_ROUNDED_1(__ll2double_##suffix, MODE, double, long long, a)                             \
  EMULATOR_ROUNDED_1(__ull2double_##suffix, MODE, double, unsigned long long, a)
EMULATOR_ROUNDED(rd, FE_DOWNWARD)
EMULATOR_ROUNDED(ru, FE_UPWARD)
EMULATOR_ROUNDED(rz, FE_TOWARDZERO)
#undef EMULATOR_ROUNDED
#undef EMULATOR_ROUNDED_1
#undef EMULATOR_ROUNDED_2
#undef EMULATOR_ROUNDED_3
#undef EMULATOR_OPERATION

#endif

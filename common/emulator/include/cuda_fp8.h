// Stand-in for CUDA's <cuda_fp8.h>: numbers of 8 bits, to and from the other types. The formats are in detail/number8.h.
#ifndef CUDA_FP8_H
#define CUDA_FP8_H

#include "cuda_runtime.h"

#ifdef __cplusplus
#include "detail/number8.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

using __nv_fp8_e4m3 = emulator::number8<emulator::e4m3_format>;
using __nv_fp8_e5m2 = emulator::number8<emulator::e5m2_format>;
using __nv_fp8x2_e4m3 = emulator::numbers8<emulator::e4m3_format, __nv_fp8x2_storage_t, float2>;
using __nv_fp8x2_e5m2 = emulator::numbers8<emulator::e5m2_format, __nv_fp8x2_storage_t, float2>;
using __nv_fp8x4_e4m3 = emulator::numbers8<emulator::e4m3_format, __nv_fp8x4_storage_t, float4>;
using __nv_fp8x4_e5m2 = emulator::numbers8<emulator::e5m2_format, __nv_fp8x4_storage_t, float4>;

// ---- To 8 bits ----------------------------------------------------------------------------------

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t format) {
  const bool saturates = saturate == __NV_SATFINITE;
  return format == __NV_E4M3 ? emulator::narrow_to_8<emulator::e4m3_format>(x, saturates)
                             : emulator::narrow_to_8<emulator::e5m2_format>(x, saturates);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(x, saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__half(x)), saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                      __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, format);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x.x, saturate, format) |
                                           __nv_cvt_double_to_fp8(x.y, saturate, format) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t format) {
  return __nv_cvt_double2_to_fp8x2({x.x, x.y}, saturate, format);
}

// ---- From 8 bits --------------------------------------------------------------------------------

// Exact: fp16 has all numbers of both formats.
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __half(format == __NV_E4M3 ? emulator::e4m3_format::widen(x)
                                    : emulator::e5m2_format::widen(x));
}
#endif

#endif

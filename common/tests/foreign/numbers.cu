// Numbers of 8 bits.
#include "feature.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Each thread widens the number whose bits are its own, and narrows it again.
__global__ void there_and_back(float *wide, __nv_fp8_storage_t *narrow) {
  __nv_fp8_e4m3 first;
  __nv_fp8_e5m2 second;
  first.__x = second.__x = static_cast<__nv_fp8_storage_t>(threadIdx.x);
  __stcs(&wide[threadIdx.x], static_cast<double>(first)); // is converted
  wide[256 + threadIdx.x] = static_cast<float>(second);
  narrow[threadIdx.x] = __nv_fp8_e4m3(static_cast<float>(first)).__x;
  narrow[256 + threadIdx.x] =
      __nv_cvt_float_to_fp8(static_cast<float>(second), __NV_NOSAT, __NV_E5M2);
}

// The number with these bits, by the definition of the formats. The last exponent has infinity and NaN in e5m2, and one
// NaN in e4m3.
static double value_of(int bits, int fraction_bits, int bias, bool has_infinity) {
  const int magnitude = bits & 0x7f, exponent = magnitude >> fraction_bits;
  const int fraction = magnitude & ((1 << fraction_bits) - 1);
  if (has_infinity && exponent == 2 * bias + 1) return fraction == 0 ? INFINITY : NAN;
  if (!has_infinity && magnitude == 0x7f) return NAN;
  const double one = exponent == 0 ? 0 : 1 << fraction_bits;
  return std::ldexp(one + fraction, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

FEATURE(
    numbers_of_8_bits,
    "cuda_fp8.h: __nv_fp8_e4m3 and __nv_fp8_e5m2, also two and four of them, to and from float, "
    "double, half, bfloat16 and integers, and the conversions of __nv_fp8_storage_t",
    "__nv_fp8_e8m0 and the conversions to it: an unknown name; numbers of 6 and 4 bits: one "
    "sentence") {
  float *wide;
  __nv_fp8_storage_t *narrow;
  CHECK(cudaMallocManaged(&wide, 512 * sizeof *wide));
  CHECK(cudaMallocManaged(&narrow, 512));
  there_and_back<<<1, 256>>>(wide, narrow);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 512; i++) {
    const bool second = i >= 256;
    const double magnitude = value_of(i % 256, second ? 2 : 3, second ? 15 : 7, second);
    const double expected = i % 256 < 128 ? magnitude : -magnitude;
    if (std::isnan(expected) ? !std::isnan(wide[i]) : wide[i] != expected) return false;
    if (!std::isnan(expected) && narrow[i] != i % 256) return false;
  }
  const auto e4m3 = [](float x, __nv_saturation_t saturate) {
    return __nv_cvt_float_to_fp8(x, saturate, __NV_E4M3);
  };
  // 464 is in the middle between the largest number and one that the format does not have; so is 2^-10 and zero.
  if (e4m3(464, __NV_NOSAT) != 0x7e || e4m3(464.1f, __NV_NOSAT) != 0x7f) return false;
  if (e4m3(-1e9f, __NV_SATFINITE) != 0xfe || e4m3(-0x1p-10f, __NV_SATFINITE) != 0x80) return false;
  if (e4m3(1.1875f, __NV_SATFINITE) != 0x3a || e4m3(1.9999f, __NV_SATFINITE) != 0x40) return false;
  const float4 four = static_cast<float4>(__nv_fp8x4_e5m2(make_float4(1, -2, 3, 70000)));
  if (four.x != 1 || four.y != -2 || four.z != 3 || four.w != 57344) return false;
  const __half half = __half(__nv_cvt_fp8_to_halfraw(0x39, __NV_E4M3));
  return __half2float(half) == 1.125f &&
         static_cast<int>(__nv_fp8_e5m2(__float2bfloat16(7.0f))) == 7;
}

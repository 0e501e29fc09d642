// Tests comparisons, functions, integers and pairs of fp16 and bf16.
#include "device_array.h"
#include "semantics.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- Comparisons --------------------------------------------------------------------------------

enum { COMPARISONS = 22 };

template <typename T>
__global__ void comparisons_kernel(float *out, const float *values, int count) {
  const T a = values[threadIdx.x / count], b = values[threadIdx.x % count];
  float *mine = out + threadIdx.x * COMPARISONS;
  const bool results[18] = {a == b,       a != b,       a<b, a <= b, a> b, a >= b,
                            __heq(a, b),  __hne(a, b),  __hlt(a, b),       __hle(a, b),
                            __hgt(a, b),  __hge(a, b),  __hequ(a, b),      __hneu(a, b),
                            __hltu(a, b), __hleu(a, b), __hgtu(a, b),      __hgeu(a, b)};
  for (int i = 0; i < 18; i++) mine[i] = results[i];
  mine[18] = __hmax(a, b);
  mine[19] = __hmin(a, b);
  mine[20] = __hmax_nan(a, b);
  mine[21] = __hmin_nan(a, b);
}

template <typename T>
static bool comparisons(error_text *error, const char *name) {
  const std::vector<float> values = {-INFINITY, -2, -1, -0.0f, 0, 1, 2, INFINITY, NAN};
  const int count = static_cast<int>(values.size());
  device_array<float> device_values(values), out(count * count * COMPARISONS);
  comparisons_kernel<T><<<1, count * count>>>(out.data(), device_values.data(), count);
  if (!device_finished(error, "comparisons_kernel")) return false;
  const std::vector<float> got = out.host();
  for (int i = 0; i < count * count; i++) {
    const float a = values[i / count], b = values[i % count];
    const bool unordered = std::isnan(a) || std::isnan(b), both = std::isnan(a) && std::isnan(b);
    const float high = a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
    const float low = a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
    const float expected[COMPARISONS] = {static_cast<float>(a == b),
                                         static_cast<float>(a != b),
                                         static_cast<float>(a < b),
                                         static_cast<float>(a <= b),
                                         static_cast<float>(a > b),
                                         static_cast<float>(a >= b),
                                         static_cast<float>(a == b),
                                         a < b || a > b ? 1.0f : 0,
                                         static_cast<float>(a < b),
                                         static_cast<float>(a <= b),
                                         static_cast<float>(a > b),
                                         static_cast<float>(a >= b),
                                         unordered || a == b ? 1.0f : 0,
                                         unordered || a != b ? 1.0f : 0,
                                         unordered || a < b ? 1.0f : 0,
                                         unordered || a <= b ? 1.0f : 0,
                                         unordered || a > b ? 1.0f : 0,
                                         unordered || a >= b ? 1.0f : 0,
                                         both ? NAN : high,
                                         both ? NAN : low,
                                         unordered ? NAN : high,
                                         unordered ? NAN : low};
    for (int k = 0; k < COMPARISONS; k++) {
      const float found = got[i * COMPARISONS + k];
      const bool right =
          std::isnan(expected[k])
              ? std::isnan(found)
              : found == expected[k] && std::signbit(found) == std::signbit(expected[k]);
      if (!right) {
        return fail(error, "%s: comparison %d of %g and %g is %g, not %g", name, k, a, b, found,
                    expected[k]);
      }
    }
  }
  return true;
}

bool numbers_comparisons(error_text *error) {
  return comparisons<__half>(error, "fp16") && comparisons<__nv_bfloat16>(error, "bf16");
}

// ---- Functions ----------------------------------------------------------------------------------

enum { FUNCTIONS = 16 };

template <typename T>
__global__ void functions_kernel(float *out, const float *values) {
  const T x = values[threadIdx.x];
  float *mine = out + threadIdx.x * FUNCTIONS;
  const T results[FUNCTIONS] = {hsqrt(x), hrsqrt(x), hrcp(x),   hexp(x), hexp2(x), hexp10(x),
                                hlog(x),  hlog2(x),  hlog10(x), hsin(x), hcos(x),  __habs(-x),
                                hceil(x), hfloor(x), htrunc(x), hrint(x)};
  for (int i = 0; i < FUNCTIONS; i++) mine[i] = results[i];
}

template <typename T>
static bool functions(error_text *error, const char *name, double step) {
  const std::vector<float> values = {0.125f, 0.5f, 0.75f, 1, 1.5f, 2, 2.5f, 3.5f, 4};
  device_array<float> device_values(values), out(values.size() * FUNCTIONS);
  functions_kernel<T>
      <<<1, static_cast<unsigned>(values.size())>>>(out.data(), device_values.data());
  if (!device_finished(error, "functions_kernel")) return false;
  const std::vector<float> got = out.host();
  for (size_t i = 0; i < values.size(); i++) {
    const double x = values[i];
    const double expected[FUNCTIONS] = {
        std::sqrt(x),  1 / std::sqrt(x), 1 / x,         std::exp(x),
        std::exp2(x),  std::pow(10, x),  std::log(x),   std::log2(x),
        std::log10(x), std::sin(x),      std::cos(x),   x,
        std::ceil(x),  std::floor(x),    std::trunc(x), std::nearbyint(x)};
    for (int k = 0; k < FUNCTIONS; k++) {
      const double found = got[i * FUNCTIONS + k];
      // Two steps of the format; the sine near 4 loses a little more on a GPU.
      if (!(std::fabs(found - expected[k]) <= 2 * step * std::fmax(std::fabs(expected[k]), 0.25))) {
        return fail(error, "%s: function %d of %g is %g, not %g", name, k, x, found, expected[k]);
      }
    }
  }
  return true;
}

// Results: what whole numbers become in fp16 and bf16 and back.
__global__ void integers_kernel(float *out) {
  out[0] = __int2half_rn(2049);
  out[1] = __int2half_rn(2051);
  out[2] = __int2half_ru(2049);
  out[3] = __int2half_rd(-2049);
  out[4] = __uint2half_rz(2051u);
  out[5] = __ll2half_rn(-5000000000LL);
  out[6] = __half2int_rn(__float2half(2.5f));
  out[7] = __half2int_rn(__float2half(3.5f));
  out[8] = __half2int_rz(__float2half(-2.75f));
  out[9] = __half2int_ru(__float2half(2.25f));
  out[10] = __half2int_rd(__float2half(-2.25f));
  out[11] = __half2short_rz(__float2half(40000.0f));
  out[12] = __half2uint_rz(__float2half(-3.0f));
  out[13] = __int2bfloat16_rn(257);
  out[14] = __int2bfloat16_rn(259);
  out[15] = __bfloat162int_rz(__float2bfloat16(-130.5f));
  out[16] = __half2float(__half(7));
  out[17] = static_cast<int>(__float2half(-7.9f));
  out[18] = __float2half(-0.0f) ? 1 : 0;
  out[19] = __hisinf(__float2half(-1e6f));
  out[20] = __hisnan(__float2half(NAN)) + 2 * __hisnan(__float2half(1.0f));
  out[21] = __hadd_sat(__float2half(0.75f), __float2half(0.75f));
  out[22] = __hfma_relu(__float2half(-2.0f), __float2half(3.0f), __float2half(1.0f));
  // 2^25 + 2^17 + 1: in float32 it would be in the middle between two numbers of bf16.
  out[23] = __int2bfloat16_rn(33685505);
  out[24] = __nv_bfloat16(33685505);
}

static bool integers(error_text *error) {
  const std::vector<float> expected = {2048, 2052, 2050,  -2050, 2050, -INFINITY,  2,         4, -2,
                                       3,    -3,   32767, 0,     256,  260,        -130,      7, -7,
                                       0,    -1,   1,     1,     0,    0x1.02p25f, 0x1.02p25f};
  device_array<float> out(expected.size());
  integers_kernel<<<1, 1>>>(out.data());
  if (!device_finished(error, "integers_kernel")) return false;
  const std::vector<float> got = out.host();
  for (size_t i = 0; i < expected.size(); i++) {
    if (got[i] != expected[i]) {
      return fail(error, "conversion %zu of integers_kernel: %g, not %g", i, got[i], expected[i]);
    }
  }
  return true;
}

bool numbers_functions(error_text *error) {
  return functions<__half>(error, "fp16", 0x1p-10) &&
         functions<__nv_bfloat16>(error, "bf16", 0x1p-7) && integers(error);
}

// ---- Pairs --------------------------------------------------------------------------------------

__global__ void half2_kernel(float2 *out, __half2 *sum) {
  const __half2 a = __floats2half2_rn(1.5f, -2.0f),
                b = make_half2(__float2half(4), __float2half(8));
  out[0] = __half22float2(a + b);
  out[1] = __half22float2(__hsub2(a, b));
  out[2] = __half22float2(a * b);
  out[3] = __half22float2(__h2div(a, b));
  out[4] = __half22float2(__hfma2(a, b, __float2half2_rn(0.5f)));
  out[5] = __half22float2(__hmax2(a, b));
  out[6] = __half22float2(__hlt2(b, a));
  out[7] = __half22float2(__lows2half2(a, b));
  out[8] = __half22float2(__highs2half2(a, b));
  out[9] = __half22float2(__lowhigh2highlow(a));
  out[10] = __half22float2(__half2half2(__high2half(a)));
  out[11] = make_float2(__low2float(a), __high2float(b));
  out[12] = __half22float2(h2exp2(__high2half2(a)));
  out[13] = __half22float2(__float22half2_rn(make_float2(65504.0f, 1e6f)));
  out[14] = make_float2(__hbgt2(b, a), __hbeq2(a, __halves2half2(a.x, b.y)));
  out[15] = __half22float2(__habs2(__hneg2(a)));
  for (int i = 0; i < 4; i++) atomicAdd(sum, a);
}

__global__ void bfloat162_kernel(float2 *out, __nv_bfloat162 *sum) {
  const __nv_bfloat162 a = __floats2bfloat162_rn(1.5f, -2.0f);
  const __nv_bfloat162 b = make_bfloat162(__float2bfloat16(4), __float2bfloat16(8));
  out[0] = __bfloat1622float2(a + b);
  out[1] = __bfloat1622float2(__hsub2(a, b));
  out[2] = __bfloat1622float2(a * b);
  out[3] = __bfloat1622float2(__h2div(a, b));
  out[4] = __bfloat1622float2(__hfma2(a, b, __float2bfloat162_rn(0.5f)));
  out[5] = __bfloat1622float2(__hmax2(a, b));
  out[6] = __bfloat1622float2(__hlt2(b, a));
  out[7] = __bfloat1622float2(__lows2bfloat162(a, b));
  out[8] = __bfloat1622float2(__highs2bfloat162(a, b));
  out[9] = __bfloat1622float2(__lowhigh2highlow(a));
  out[10] = __bfloat1622float2(__bfloat162bfloat162(__high2bfloat16(a)));
  out[11] = make_float2(__low2float(a), __high2float(b));
  out[12] = __bfloat1622float2(h2exp2(__high2bfloat162(a)));
  out[13] = __bfloat1622float2(__float22bfloat162_rn(make_float2(65504.0f, INFINITY)));
  out[14] = make_float2(__hbgt2(b, a), __hbeq2(a, __halves2bfloat162(a.x, b.y)));
  out[15] = __bfloat1622float2(__habs2(__hneg2(a)));
  for (int i = 0; i < 4; i++) atomicAdd(sum, a);
}

static bool check_pairs(error_text *error, const char *name, const std::vector<float2> &got,
                        float2 thirteenth) {
  const float expected[16][2] = {{5.5f, 6},      {-2.5f, -10},
                                 {6, -16},       {0.375f, -0.25f},
                                 {6.5f, -15.5f}, {4, 8},
                                 {0, 0},         {1.5f, 4},
                                 {-2, 8},        {-2, 1.5f},
                                 {-2, -2},       {1.5f, 8},
                                 {0.25f, 0.25f}, {thirteenth.x, thirteenth.y},
                                 {1, 0},         {1.5f, 2}};
  for (int i = 0; i < 16; i++) {
    if (got[i].x != expected[i][0] || got[i].y != expected[i][1]) {
      return fail(error, "%s: pair %d is (%g, %g), not (%g, %g)", name, i, got[i].x, got[i].y,
                  expected[i][0], expected[i][1]);
    }
  }
  return true;
}

bool numbers_pairs(error_text *error) {
  device_array<float2> out(16);
  device_array<__half2> half_sum(1);
  half2_kernel<<<1, 1>>>(out.data(), half_sum.data());
  if (!device_finished(error, "half2_kernel")) return false;
  if (!check_pairs(error, "half2", out.host(), make_float2(65504, INFINITY))) return false;
  const float2 total = __half22float2(half_sum.host()[0]);
  if (total.x != 6 || total.y != -8)
    return fail(error, "half2 atomicAdd: (%g, %g)", total.x, total.y);
  device_array<__nv_bfloat162> bf16_sum(1);
  bfloat162_kernel<<<1, 1>>>(out.data(), bf16_sum.data());
  if (!device_finished(error, "bfloat162_kernel")) return false;
  return check_pairs(error, "bfloat162", out.host(), make_float2(65536, INFINITY));
}

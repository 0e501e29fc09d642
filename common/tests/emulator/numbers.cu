// Tests conversions, arithmetic, comparison and functions of fp16 and bf16.
// The host computes the expected values in double and rounds them once.
#include "device_array.h"
#include "semantics.h"

#include "numeric/float16.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

// ---- The formats, for the host ------------------------------------------------------------------

template <typename T>
struct format;
template <>
struct format<__half> {
  static constexpr const char *name = "fp16";
  static constexpr int precision = 11, exponent_min = -14, exponent_max = 15;
  static constexpr unsigned exponent_bits = 0x7c00;
  static double widen(unsigned short bits) { return fp16_to_float_portable(bits); }
};
template <>
struct format<__nv_bfloat16> {
  static constexpr const char *name = "bf16";
  static constexpr int precision = 8, exponent_min = -126, exponent_max = 127;
  static constexpr unsigned exponent_bits = 0x7f80;
  static double widen(unsigned short bits) { return bf16_to_float(bits); }
};

// Rounds x to the format's nearest number, ties to even.
template <typename T>
static double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format<T>::exponent_min);
  const double quantum = std::ldexp(1.0, exponent - (format<T>::precision - 1));
  const double result = std::nearbyint(x / quantum) * quantum;
  const double beyond = std::ldexp(1.0, format<T>::exponent_max + 1);
  return std::fabs(result) >= beyond ? std::copysign(INFINITY, x) : result;
}

static bool same(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

// A fixed sequence of 16-bit patterns.
static std::vector<unsigned short> patterns(size_t count, unsigned state) {
  std::vector<unsigned short> bits(count);
  for (unsigned short &b : bits) {
    state = state * 1664525 + 1013904223;
    b = static_cast<unsigned short>(state >> 16);
  }
  return bits;
}

__device__ void set_bits(__half *x, unsigned short bits) { *x = __ushort_as_half(bits); }
__device__ void set_bits(__nv_bfloat16 *x, unsigned short bits) { *x = __ushort_as_bfloat16(bits); }
__device__ unsigned short get_bits(__half x) { return __half_as_ushort(x); }
__device__ unsigned short get_bits(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

// ---- Conversions --------------------------------------------------------------------------------

template <typename T>
__global__ void widen_kernel(float *out) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  T x;
  set_bits(&x, static_cast<unsigned short>(bits));
  out[bits] = x;
}

template <typename T>
__global__ void narrow_kernel(unsigned short *from_float, unsigned short *from_double,
                              const double *values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  from_float[i] = get_bits(T(static_cast<float>(values[i])));
  from_double[i] = get_bits(T(values[i]));
}

template <typename T>
static bool conversions(error_text *error) {
  device_array<float> widened(65536);
  widen_kernel<T><<<256, 256>>>(widened.data());
  if (!device_finished(error, "widen_kernel")) return false;
  const std::vector<float> all = widened.host();
  std::vector<double> values;
  for (int bits = 0; bits < 65536; bits++) {
    const double expected = format<T>::widen(static_cast<unsigned short>(bits));
    if (!same(all[bits], expected)) {
      return fail(error, "%s 0x%04x is %g, not %g", format<T>::name, bits, all[bits], expected);
    }
    // Each number, the middle to the next, and doubles just off the middle.
    const double next = format<T>::widen(static_cast<unsigned short>(bits + 1));
    const double middle = expected + (next - expected) / 2;
    for (const double x : {expected, middle, middle * (1 + 1e-12), middle * (1 - 1e-12)}) {
      if (!std::isnan(x)) values.push_back(x);
    }
  }
  const int count = static_cast<int>(values.size());
  device_array<double> device_values(values);
  device_array<unsigned short> from_float(count), from_double(count);
  narrow_kernel<T><<<(count + 255) / 256, 256>>>(from_float.data(), from_double.data(),
                                                 device_values.data(), count);
  if (!device_finished(error, "narrow_kernel")) return false;
  const std::vector<unsigned short> floats = from_float.host(), doubles = from_double.host();
  for (int i = 0; i < count; i++) {
    const double by_float = rounded<T>(static_cast<float>(values[i])),
                 exact = rounded<T>(values[i]);
    if (!same(format<T>::widen(floats[i]), by_float) ||
        !same(format<T>::widen(doubles[i]), exact)) {
      return fail(error, "%s of %.17g: 0x%04x from float, 0x%04x from double, not %g and %g",
                  format<T>::name, values[i], floats[i], doubles[i], by_float, exact);
    }
  }
  return true;
}

bool numbers_conversions(error_text *error) {
  return conversions<__half>(error) && conversions<__nv_bfloat16>(error);
}

// ---- Arithmetic ---------------------------------------------------------------------------------

template <typename T>
__global__ void arithmetic_kernel(float *out, const unsigned short *a_bits,
                                  const unsigned short *b_bits, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  T a, b;
  set_bits(&a, a_bits[i]);
  set_bits(&b, b_bits[i]);
  T sum = a;
  sum += b;
  out[i * 5] = sum;
  out[i * 5 + 1] = __hsub(a, b);
  out[i * 5 + 2] = a * b;
  out[i * 5 + 3] = __hdiv(a, b);
  out[i * 5 + 4] = -a;
}

template <typename T>
static bool arithmetic(error_text *error) {
  const int count = 200000;
  std::vector<unsigned short> a = patterns(count, 1), b = patterns(count, 2);
  if (std::is_same<T, __nv_bfloat16>::value) {
    // Sums must be exact in double: exponents within 40 of each other in three cases of four.
    for (int i = 0; i < count; i++) {
      if (i % 4 == 3) continue;
      a[i] = static_cast<unsigned short>((a[i] & 0x807f) | (107 + i % 41) << 7);
      b[i] = static_cast<unsigned short>((b[i] & 0x807f) | (107 + i / 41 % 41) << 7);
    }
  }
  device_array<unsigned short> device_a(a), device_b(b);
  device_array<float> out(count * 5);
  arithmetic_kernel<T>
      <<<(count + 255) / 256, 256>>>(out.data(), device_a.data(), device_b.data(), count);
  if (!device_finished(error, "arithmetic_kernel")) return false;
  const std::vector<float> got = out.host();
  for (int i = 0; i < count; i++) {
    const double x = format<T>::widen(a[i]), y = format<T>::widen(b[i]);
    const double expected[5] = {rounded<T>(x + y), rounded<T>(x - y), rounded<T>(x * y),
                                rounded<T>(x / y), -x};
    for (int operation = 0; operation < 5; operation++) {
      const bool sum_of_far_apart =
          std::is_same<T, __nv_bfloat16>::value && i % 4 == 3 && operation < 2;
      if (!sum_of_far_apart && !same(got[i * 5 + operation], expected[operation])) {
        return fail(error, "%s: %g %c %g is %g, not %g", format<T>::name, x, "+-*/n"[operation], y,
                    got[i * 5 + operation], expected[operation]);
      }
    }
  }
  return true;
}

bool numbers_arithmetic(error_text *error) {
  return arithmetic<__half>(error) && arithmetic<__nv_bfloat16>(error);
}

// The products lie half way between two numbers, and the addend
// is too small to change a float32 but decides the rounding.
template <typename T>
__global__ void fused_kernel(float *out, const float *operands, int count) {
  const int i = threadIdx.x;
  if (i >= count) return;
  const T a = operands[i * 3], b = operands[i * 3 + 1], c = operands[i * 3 + 2];
  out[i] = __hfma(a, b, c);
}

struct fused_case {
  float a, b, c, expected;
};

template <typename T>
static bool fused(error_text *error, const std::vector<fused_case> &cases) {
  const int count = static_cast<int>(cases.size());
  std::vector<float> operands;
  for (const fused_case &f : cases) operands.insert(operands.end(), {f.a, f.b, f.c});
  device_array<float> device_operands(operands), out(count);
  fused_kernel<T><<<1, 64>>>(out.data(), device_operands.data(), count);
  if (!device_finished(error, "fused_kernel")) return false;
  const std::vector<float> got = out.host();
  for (int i = 0; i < count; i++) {
    if (!same(got[i], cases[i].expected)) {
      return fail(error, "%s: __hfma(%g, %g, %g) is %.9g, not %.9g", format<T>::name, cases[i].a,
                  cases[i].b, cases[i].c, got[i], cases[i].expected);
    }
  }
  return true;
}

bool numbers_fused(error_text *error) {
  const float a16 = 1 + 0x1p-5f, b16 = 1 + 0x1p-6f; // product: 1 + 48 / 1024 + half a step
  const float a8 = 1 + 0x1p-4f;                     // square: 1 + 16 / 128 + half a step
  const float step16 = 0x1p-10f, step8 = 0x1p-7f;
  return fused<__half>(error, {{a16, b16, 0, 1 + 48 * step16},
                               {a16, b16, 0x1p-24f, 1 + 49 * step16},
                               {a16, b16, -0x1p-24f, 1 + 48 * step16},
                               {-a16, b16, -0x1p-24f, -1 - 49 * step16},
                               {2, 3, 4, 10},
                               {256, 255.9f, 0, 65504},
                               {256, 256, 0, INFINITY},
                               {256, 256, -65504, 32},
                               {0, INFINITY, 1, NAN},
                               {1, 0, -0.0f, 0}}) &&
         fused<__nv_bfloat16>(error, {{a8, a8, 0, 1 + 16 * step8},
                                      {a8, a8, 0x1p-100f, 1 + 17 * step8},
                                      {a8, a8, -0x1p-100f, 1 + 16 * step8},
                                      {a8, -a8, -0x1p-120f, -1 - 17 * step8},
                                      {1, 1 + step8, -1, step8},
                                      {0x1p100f, 0x1p100f, 1, INFINITY},
                                      {INFINITY, 1, -INFINITY, NAN}});
}

// ---- Rounding directions ------------------------------------------------------------------------

template <typename T>
__device__ void round_all_ways(float x, unsigned short *out);
template <>
__device__ void round_all_ways<__half>(float x, unsigned short *out) {
  out[0] = get_bits(__float2half_rn(x));
  out[1] = get_bits(__float2half_rz(x));
  out[2] = get_bits(__float2half_ru(x));
  out[3] = get_bits(__float2half_rd(x));
}
template <>
__device__ void round_all_ways<__nv_bfloat16>(float x, unsigned short *out) {
  out[0] = get_bits(__float2bfloat16_rn(x));
  out[1] = get_bits(__float2bfloat16_rz(x));
  out[2] = get_bits(__float2bfloat16_ru(x));
  out[3] = get_bits(__float2bfloat16_rd(x));
}

template <typename T>
__global__ void directions_kernel(unsigned short *out, const float *values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) round_all_ways<T>(values[i], out + 4 * i);
}

template <typename T>
static bool directions(error_text *error) {
  std::vector<float> values = {0.0f, -0.0f, 1e-30f, -1e-30f, 70000.0f, -70000.0f, 1e38f, -1e38f};
  unsigned state = 3;
  for (int i = 0; i < 20000; i++) {
    state = state * 1664525 + 1013904223;
    const float mantissa = 1 + static_cast<float>(state >> 8) * 0x1p-24f;
    const int exponent = static_cast<int>(state % 31) - 16;
    values.push_back(std::ldexp(i % 2 ? mantissa : -mantissa, exponent));
  }
  const int count = static_cast<int>(values.size());
  device_array<float> device_values(values);
  device_array<unsigned short> out(count * 4);
  directions_kernel<T><<<(count + 127) / 128, 128>>>(out.data(), device_values.data(), count);
  if (!device_finished(error, "directions_kernel")) return false;
  const std::vector<unsigned short> got = out.host();
  for (int i = 0; i < count; i++) {
    const double x = values[i];
    const double nearest = format<T>::widen(got[4 * i]), zero = format<T>::widen(got[4 * i + 1]);
    const double up = format<T>::widen(got[4 * i + 2]), down = format<T>::widen(got[4 * i + 3]);
    // The two neighbours are each other's next; their patterns order them by magnitude.
    const bool neighbours =
        down == up ? down == x
                   : std::abs((got[4 * i + 2] & 0x7fff) - (got[4 * i + 3] & 0x7fff)) == 1;
    if (!(down <= x && x <= up) || !neighbours || zero != (x > 0 ? down : up) ||
        nearest != rounded<T>(x)) {
      return fail(error, "%s of %.9g: to nearest %.9g, to zero %.9g, up %.9g, down %.9g",
                  format<T>::name, x, nearest, zero, up, down);
    }
  }
  return true;
}

bool numbers_rounding_directions(error_text *error) {
  return directions<__half>(error) && directions<__nv_bfloat16>(error);
}

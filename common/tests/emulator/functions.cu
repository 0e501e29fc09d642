// Tests vector types, mathematics, bit and cast intrinsics.
#include "device_array.h"
#include "semantics.h"

#include <cmath>
#include <cstdint>

// ---- Vector types -------------------------------------------------------------------------------

#define SIZE_AND_ALIGNMENT(Type, size, alignment)                                                  \
  static_assert(sizeof(Type) == size && alignof(Type) == alignment, #Type)
SIZE_AND_ALIGNMENT(char1, 1, 1);
SIZE_AND_ALIGNMENT(uchar2, 2, 2);
SIZE_AND_ALIGNMENT(char3, 3, 1);
SIZE_AND_ALIGNMENT(uchar4, 4, 4);
SIZE_AND_ALIGNMENT(short2, 4, 4);
SIZE_AND_ALIGNMENT(short3, 6, 2);
SIZE_AND_ALIGNMENT(ushort4, 8, 8);
SIZE_AND_ALIGNMENT(int1, 4, 4);
SIZE_AND_ALIGNMENT(int2, 8, 8);
SIZE_AND_ALIGNMENT(uint3, 12, 4);
SIZE_AND_ALIGNMENT(uint4, 16, 16);
SIZE_AND_ALIGNMENT(long2, 16, 16);
SIZE_AND_ALIGNMENT(longlong2, 16, 16);
SIZE_AND_ALIGNMENT(ulonglong3, 24, 8);
SIZE_AND_ALIGNMENT(float1, 4, 4);
SIZE_AND_ALIGNMENT(float2, 8, 8);
SIZE_AND_ALIGNMENT(float3, 12, 4);
SIZE_AND_ALIGNMENT(float4, 16, 16);
SIZE_AND_ALIGNMENT(double2, 16, 16);
SIZE_AND_ALIGNMENT(double3, 24, 8);
SIZE_AND_ALIGNMENT(dim3, 12, 4);

__global__ void vectors_kernel(float4 *out, const float4 *in, int *sum) {
  __shared__ float4 tile[32];
  const int i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  float4 v = tile[31 - i];
  v.x += 1;
  out[i] = v;
  const float2 pair = reinterpret_cast<const float2 *>(in)[2 * i + 1];
  reinterpret_cast<float2 *>(out + 32)[i] = make_float2(pair.y, pair.x);
  const uint4 bits = *reinterpret_cast<const uint4 *>(&in[i]);
  const uchar4 bytes =
      make_uchar4(1, 2, 3, static_cast<unsigned char>(bits.x == __float_as_uint(in[i].x)));
  const short4 shorts = make_short4(bytes.x, bytes.y, bytes.z, bytes.w);
  const longlong2 wide = make_longlong2(shorts.x + shorts.y, shorts.z + shorts.w);
  atomicAdd(sum, static_cast<int>(wide.x + wide.y));
}

bool functions_vector_types(error_text *error) {
  std::vector<float4> in;
  for (int i = 0; i < 32; i++) in.push_back(make_float4(i, i + 0.25f, i + 0.5f, i + 0.75f));
  device_array<float4> device_in(in), out(48);
  device_array<int> sum(1);
  vectors_kernel<<<1, 32>>>(out.data(), device_in.data(), sum.data());
  if (!device_finished(error, "vectors_kernel")) return false;
  const std::vector<float4> got = out.host();
  for (int i = 0; i < 32; i++) {
    const int from = 31 - i;
    if (got[i].x != from + 1 || got[i].y != from + 0.25f || got[i].z != from + 0.5f ||
        got[i].w != from + 0.75f) {
      return fail(error, "float4 %d is (%g, %g, %g, %g)", i, got[i].x, got[i].y, got[i].z,
                  got[i].w);
    }
    const float4 pairs = got[32 + i / 2];
    const float x = i % 2 ? pairs.z : pairs.x, y = i % 2 ? pairs.w : pairs.y;
    if (x != i + 0.75f || y != i + 0.5f) return fail(error, "float2 %d is (%g, %g)", i, x, y);
  }
  return sum.host()[0] == 32 * 7 || fail(error, "the bytes sum to %d, not 224", sum.host()[0]);
}

// ---- Mathematics --------------------------------------------------------------------------------

// Each function has one row: its name, the call, and the value that the host computes in double.
#define EACH_FUNCTION(F)                                                                           \
  F(expf(x), exp(d))                                                                               \
  F(exp2f(x), exp2(d))                                                                             \
  F(exp10f(x), pow(10.0, d))                                                                       \
  F(expm1f(x), expm1(d))                                                                           \
  F(logf(x), log(d))                                                                               \
  F(log2f(x), log2(d))                                                                             \
  F(log10f(x), log10(d))                                                                           \
  F(log1pf(x), log1p(d))                                                                           \
  F(sqrtf(x), sqrt(d))                                                                             \
  F(rsqrtf(x), 1 / sqrt(d))                                                                        \
  F(cbrtf(x), cbrt(d))                                                                             \
  F(sinf(x), sin(d))                                                                               \
  F(cosf(x), cos(d))                                                                               \
  F(tanhf(x), tanh(d))                                                                             \
  F(erff(x), erf(d))                                                                               \
  F(sinpif(x), sin(d *M_PI))                                                                       \
  F(cospif(x), cos(d *M_PI))                                                                       \
  F(normcdff(x), 0.5 * erfc(-d * M_SQRT1_2))                                                       \
  F(erff(erfinvf(x / 10)), d / 10)                                                                 \
  F(static_cast<float>(erf(erfinv(0.4 + static_cast<double>(x) / 100))), 0.4 + d / 100)            \
  F(static_cast<float>(erfc(erfcinv(exp(static_cast<double>(-9 * x)))) *                           \
                       exp(static_cast<double>(9 * x))),                                           \
    1)                                                                                             \
  F(normcdff(normcdfinvf(x / 10)), d / 10)                                                         \
  F(erfcxf(x), exp(d *d) * erfc(d))                                                                \
  F(erfcxf(30 * x + 100) * (30 * x + 100), M_2_SQRTPI / 2 * (1 - 0.5 / pow(30 * d + 100, 2)))      \
  F(norm3df(x, 2, 3), sqrt(d *d + 13))                                                             \
  F(rnorm4df(x, 2, 3, 4), 1 / sqrt(d * d + 29))                                                    \
  F(static_cast<float>(norm4d(x, 2.0, 3.0, 4.0)), sqrt(d *d + 29))                                 \
  F(static_cast<float>(rhypot(static_cast<double>(x), 2.0)), 1 / hypot(d, 2.0))                    \
  F(powf(x, 1.5f), pow(d, 1.5))                                                                    \
  F(fmaf(x, x, 1.0f), d *d + 1)                                                                    \
  F(fmodf(x, 0.3f), fmod(d, static_cast<double>(0.3f)))                                            \
  F(hypotf(x, 2.0f), hypot(d, 2.0))                                                                \
  F(ldexpf(x, 3), d * 8)                                                                           \
  F(fdividef(1.0f, x), 1 / d)                                                                      \
  F(fmaxf(x, NAN), d)                                                                              \
  F(fminf(NAN, x), d)                                                                              \
  F(max(x, 1.0f), d > 1 ? d : 1)                                                                   \
  F(min(x, 1.0f), d < 1 ? d : 1)                                                                   \
  F(fabsf(-x), d)                                                                                  \
  F(copysignf(x, -1.0f), -d)                                                                       \
  F(floorf(x), floor(d))                                                                           \
  F(ceilf(x), ceil(d))                                                                             \
  F(rintf(x), nearbyint(d))                                                                        \
  F(__saturatef(x), d < 1 ? d : 1)                                                                 \
  F(__fadd_rn(x, x), d + d)                                                                        \
  F(__fmul_rn(x, x), d *d)                                                                         \
  F(__fmaf_rn(x, x, -1.0f), d *d - 1)                                                              \
  F(__frcp_rn(x), 1 / d)                                                                           \
  F(__fsqrt_rn(x), sqrt(d))                                                                        \
  F(__frsqrt_rn(x), 1 / sqrt(d))                                                                   \
  F(__fdiv_rn(x, 3.0f), d / 3)                                                                     \
  F(static_cast<float>(exp(static_cast<double>(x))), exp(d))                                       \
  F(static_cast<float>(rsqrt(static_cast<double>(x))), 1 / sqrt(d))

// These are approximations: their error on a GPU is larger.
#define EACH_FAST_FUNCTION(F)                                                                      \
  F(__expf(x), exp(d))                                                                             \
  F(__exp10f(x), pow(10.0, d))                                                                     \
  F(__logf(x), log(d))                                                                             \
  F(__log2f(x), log2(d))                                                                           \
  F(__log10f(x), log10(d))                                                                         \
  F(__powf(x, 1.5f), pow(d, 1.5))                                                                  \
  F(__sinf(x), sin(d))                                                                             \
  F(__cosf(x), cos(d))                                                                             \
  F(__fdividef(1.0f, x), 1 / d)

#define CALL(call, expected)     *next++ = call;
#define EXPECTED(call, expected) expected,
#define NAME(call, expected)     #call,

__global__ void math_kernel(float *out, const float *values, int functions) {
  const float x = values[threadIdx.x];
  float *next = out + threadIdx.x * functions;
  EACH_FUNCTION(CALL)
  EACH_FAST_FUNCTION(CALL)
}

bool functions_math(error_text *error) {
  static const char *const exact_names[] = {EACH_FUNCTION(NAME)};
  static const char *const names[] = {EACH_FUNCTION(NAME) EACH_FAST_FUNCTION(NAME)};
  const int exact = sizeof exact_names / sizeof exact_names[0];
  const int functions = sizeof names / sizeof names[0];
  const std::vector<float> values = {0.015625f, 0.1f, 0.5f, 0.8f, 1, 1.5f, 2.5f, 3, 4.75f, 9};
  device_array<float> device_values(values), out(values.size() * functions);
  math_kernel<<<1, static_cast<unsigned>(values.size())>>>(out.data(), device_values.data(),
                                                           functions);
  if (!device_finished(error, "math_kernel")) return false;
  const std::vector<float> got = out.host();
  for (size_t i = 0; i < values.size(); i++) {
    const double d = values[i];
    const double expected[] = {EACH_FUNCTION(EXPECTED) EACH_FAST_FUNCTION(EXPECTED)};
    for (int f = 0; f < functions; f++) {
      const double found = got[i * functions + f];
      const double bound =
          f < exact ? 2e-6 * fmax(fabs(expected[f]), 0.1) : 2e-5 * fmax(fabs(expected[f]), 1.0);
      if (!(fabs(found - expected[f]) <= bound)) {
        return fail(error, "%s at %g is %.9g, not %.9g", names[f], d, found, expected[f]);
      }
    }
  }
  return true;
}

// ---- Bits ---------------------------------------------------------------------------------------

__global__ void bits_kernel(unsigned long long *out) {
  __builtin_assume(out[0] == 1 || out != nullptr);
  out[0] = __popc(0xf0f01u);
  out[1] = __popcll(0xf0f01f0f01ull);
  out[2] = __clz(0x00010000);
  out[3] = __clz(0);
  out[4] = __clzll(1);
  out[5] = __ffs(0x00010000);
  out[6] = __ffs(0);
  out[7] = __ffsll(1ll << 40);
  out[8] = __brev(0x12345678u);
  out[9] = __brevll(1);
  out[10] = __byte_perm(0x33221100, 0x77665544, 0x7250);
  out[11] = __byte_perm(0x33228100, 0x77665544, 0x98);
  out[12] = __umulhi(0xffffffffu, 0xffffffffu);
  out[13] = static_cast<unsigned>(__mulhi(-2, 1 << 30));
  out[14] = __umul64hi(~0ull, 2);
  out[15] = static_cast<unsigned>(__mul24(-3, 5));
  out[16] = __umul24(0x01000003u, 5);
  out[17] = __funnelshift_l(0x80000000u, 0x1u, 4);
  out[18] = __funnelshift_r(0x80000000u, 0x1u, 4);
  out[19] = __funnelshift_lc(0x80000000u, 0x1u, 40);
  out[20] = __sad(-5, 7, 100);
  out[21] = __usad(3, 10, 1);
  out[22] = min(-1, 5u);
  out[23] = max(3ull, 4ull);
  out[24] = static_cast<unsigned>(abs(-9));
  out[25] = static_cast<unsigned long long>(llabs(-9ll));
  out[26] = __vimax3_u16x2(0x00017FFFu, 0x0002FFFFu, 0xFFFE0003u);
  out[27] = static_cast<unsigned>(__vimax3_s32(-7, -3, -5));
  out[28] = static_cast<unsigned>(__vimin3_s32(-7, 3, -5));
  out[29] = static_cast<unsigned>(__hadd(-5, -2));
  out[30] = static_cast<unsigned>(__rhadd(-5, -2));
  out[31] = __uhadd(0xffffffffu, 0xfffffffeu);
  out[32] = __urhadd(0xffffffffu, 0xfffffffeu);
  out[33] = __fns(0x12345678u, 0, 2);
  out[34] = __fns(0x12345678u, 31, -1);
  out[35] = __fns(0x12345678u, 4, 0);
  out[36] = __fns(0x12345678u, 0, 14);
  out[37] = static_cast<unsigned>(__double2hiint(-2.0));
  out[38] = static_cast<unsigned>(__double2loint(0x1.00000ffffffffp0));
  out[39] = static_cast<unsigned long long>(
      __double_as_longlong(__hiloint2double(static_cast<int>(0xc0000000u), -1)));
}

bool functions_bits(error_text *error) {
  const std::vector<unsigned long long> expected = {
      9,          18,         15,         32,         63,
      17,         0,          41,         0x1e6a2c48, 1ull << 63,
      0x77225500, 0x00008100, 0xfffffffe, 0xffffffff, 1,
      0xfffffff1, 15,         0x18,       0x18000000, 0x80000000,
      112,        8,          5,          4,          9,
      9,          0xFFFEFFFF, 0xfffffffd, 0xfffffff9, 0xfffffffc,
      0xfffffffd, 0xfffffffe, 0xffffffff, 4,          28,
      4,          0xffffffff, 0xc0000000, 0xffffffff, 0xc0000000ffffffff};
  device_array<unsigned long long> out(expected.size());
  bits_kernel<<<1, 1>>>(out.data());
  if (!device_finished(error, "bits_kernel")) return false;
  const std::vector<unsigned long long> got = out.host();
  for (size_t i = 0; i < expected.size(); i++) {
    if (got[i] != expected[i]) {
      return fail(error, "out[%zu] of bits_kernel is 0x%llx, not 0x%llx", i, got[i], expected[i]);
    }
  }
  return true;
}

// ---- Casts --------------------------------------------------------------------------------------

__global__ void casts_kernel(long long *out, const float *values) {
  out[0] = __float_as_int(-0.0f);
  out[1] = __float_as_uint(1.0f);
  out[2] = static_cast<long long>(__int_as_float(0x40490fdb) * 1e6f);
  out[3] = static_cast<long long>(__uint_as_float(0xc0000000u));
  out[4] = __double_as_longlong(1.0);
  out[5] = static_cast<long long>(__longlong_as_double(0x4010000000000000ll));
  out[6] = __float2int_rn(values[0]); // 2.5
  out[7] = __float2int_rn(values[1]); // 3.5
  out[8] = __float2int_rz(values[2]); // -2.5
  out[9] = __float2int_ru(values[2]);
  out[10] = __float2int_rd(values[2]);
  out[11] = __float2int_rz(values[3]); // 1e20
  out[12] = __float2uint_rz(values[2]);
  out[13] = __float2int_rz(values[4]); // NaN
  out[14] = __double2int_rn(-0.5);
  out[15] = static_cast<long long>(__int2float_rn(16777217));
  out[16] = static_cast<long long>(__uint2float_rn(4294967295u));
  out[17] = __float2ll_rn(values[3]);
  out[18] = static_cast<long long>(__ldg(values) * 2);
}

bool functions_casts(error_text *error) {
  const std::vector<long long> expected = {
      INT32_MIN, 0x3f800000, 3141592, -2, 0x3ff0000000000000, 4,          2,         4, -2, -2, -3,
      INT32_MAX, 0,          0,       0,  16777216,           4294967296, INT64_MAX, 5};
  device_array<float> values(std::vector<float>{2.5f, 3.5f, -2.5f, 1e20f, NAN});
  device_array<long long> out(expected.size());
  casts_kernel<<<1, 1>>>(out.data(), values.data());
  if (!device_finished(error, "casts_kernel")) return false;
  const std::vector<long long> got = out.host();
  for (size_t i = 0; i < expected.size(); i++) {
    // 3141592.5 has no exact float32: the product may round to either side.
    if (got[i] != expected[i] && !(i == 2 && got[i] == 3141593)) {
      return fail(error, "out[%zu] of casts_kernel is %lld, not %lld", i, got[i], expected[i]);
    }
  }
  return true;
}

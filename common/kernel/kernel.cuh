// Code that the kernels of all steps share and that is not the subject of any step, such as the element type,
// the choice of an instance by shape, the size of the score matrix, and the permission to use more shared
// memory.
#ifndef KERNEL_CUH
#define KERNEL_CUH

#include "attention.h"
#include "left_out.h"
#include "timeline.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <type_traits>

__device__ __forceinline__ float to_float(half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

// Rounds to the nearest value of the element type, ties to even.
template <typename Element>
__device__ __forceinline__ Element from_float(float value);
template <>
__device__ __forceinline__ half from_float<half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

static constexpr float LOG2_E = 1.44269504f; // exp(x) = exp2(x * LOG2_E)
static constexpr float LN_2 = 0.69314718f;   // log(x) = log2(x) * LN_2

static constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Rounds two values with one instruction and packs them into one 32-bit register, the first in the lower
// half.
template <typename Element>
__device__ __forceinline__ unsigned pack_pair(float first, float second);
template <>
__device__ __forceinline__ unsigned pack_pair<half>(float first, float second) {
  const half2 pair = __floats2half2_rn(first, second);
  return *(const unsigned *)&pair;
}
template <>
__device__ __forceinline__ unsigned pack_pair<__nv_bfloat16>(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *(const unsigned *)&pair;
}

// common_divisor returns the greatest common divisor, by Euclid's algorithm. power_of_two_up_to returns the largest
// power of two that is not above n.
static constexpr int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }
static constexpr int power_of_two_up_to(int n) { return n < 2 ? 1 : 2 * power_of_two_up_to(n / 2); }

// Returns how many pieces of `size` cover `count`; both are at least 1.
static constexpr __host__ __device__ int divide_up(int count, int size) {
  return (count - 1) / size + 1;
}

// A grid has at most this many blocks in y and in z. A test on the emulator may set a smaller limit, so that
// blocks take several tiles even in a small problem.
#ifdef LAB_MAX_GRID_YZ
#define MAX_GRID_YZ LAB_MAX_GRID_YZ
#else
#define MAX_GRID_YZ 65535
#endif

// Adds the scalar product of two vectors of 4 elements to `sum`.
__device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// Returns how many keys row `query` sees, which are always the first ones. Without a mask it sees all keys;
// with a causal mask it sees those up to the diagonal, which ends in the bottom right corner.
__device__ __forceinline__ int visible_keys(const attention_shape &shape, int query) {
  if (!shape.causal) return shape.seq_kv;
  return max(0, min(shape.seq_kv, query + 1 + shape.seq_kv - shape.seq_q));
}

// Returns which of the batch * kv_heads key/value heads a query head reads; `heads / kv_heads` query heads
// share one.
__device__ __forceinline__ size_t key_value_head(const attention_shape &shape, int batch,
                                                 int head) {
  return (size_t)batch * shape.kv_heads + head / (shape.heads / shape.kv_heads);
}

// max_over_lanes and sum_over_lanes return the largest value and the sum, over the lanes whose numbers differ in the
// bits FROM, 2 FROM, ... TO / 2. FROM = 1, TO = 8 take 8 neighbouring lanes; FROM = 8, TO = 32 take every eighth lane.
// Words that begin with TIMELINE_ stand for nothing in an ordinary build (timeline.cuh).
template <int FROM, int TO>
__device__ __forceinline__ float max_over_lanes(float value TIMELINE_SITE) {
  TIMELINE_MMA(SOFTMAX)
  for (int offset = FROM; offset < TO; offset *= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));
  return value;
}

template <int FROM, int TO>
__device__ __forceinline__ float sum_over_lanes(float value) {
  for (int offset = FROM; offset < TO; offset *= 2)
    value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

// Returns the bytes of one float32 score for every query and key of every head; SIZE_MAX when the number does
// not fit.
static inline size_t score_matrix_bytes(const attention_shape *shape) {
  const int factors[] = {shape->batch, shape->heads, shape->seq_q, shape->seq_kv};
  size_t bytes = sizeof(float);
  for (int i = 0; i < 4; i++) {
    if (bytes > SIZE_MAX / (size_t)factors[i]) return SIZE_MAX;
    bytes *= (size_t)factors[i];
  }
  return bytes;
}

// Returns an attribute of the current GPU, or 0 without a GPU.
static inline int gpu_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : 0;
}

// A block gets 48 KB of shared memory, the stamps of a timeline included. A kernel that wants more must ask first.
template <typename Kernel>
static cudaError_t allow_shared_memory(Kernel kernel, size_t bytes) {
  if (bytes + TIMELINE_SHARED_BYTES <= 48 * 1024) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

// Calls launch<Element, D>(args, stream) for the shape's element type and its head_dim padded to D.
#define LAUNCH_FOR_SHAPE(launch, args, stream)                                                     \
  ((args)->shape.dtype == ATTENTION_FP16 ? LAUNCH_FOR_DIM(launch, half, args, stream)              \
                                         : LAUNCH_FOR_DIM(launch, __nv_bfloat16, args, stream))
#define LAUNCH_FOR_DIM(launch, Element, args, stream)                                              \
  ((args)->shape.head_dim <= 32   ? launch<Element, 32>(args, stream)                              \
   : (args)->shape.head_dim <= 64 ? launch<Element, 64>(args, stream)                              \
                                  : launch<Element, 128>(args, stream))

// With LAB_ONE_TYPE, the steps that include configurations.cuh are compiled in one element type for each head_dim: in
// fp16 up to 64 and in bf16 above. make check tries planted bugs in this way, in 2/3 of the time. With LAB_ONE_DIM they
// are compiled for a head_dim padded to 64 in fp16 alone, as make check tries variants and substeps.
#if defined(LAB_ONE_DIM)
enum { ONE_TYPE = 1, ONE_DIM = 1 };
#elif defined(LAB_ONE_TYPE)
enum { ONE_TYPE = 1, ONE_DIM = 0 };
#else
enum { ONE_TYPE = 0, ONE_DIM = 0 };
#endif

// Tells whether a step is compiled for head_dims that are padded to `padded_dim`, in bf16 or in fp16.
static constexpr bool is_compiled_in(bool bf16, int padded_dim) {
  return (!ONE_TYPE || bf16 == (padded_dim > 64)) && (!ONE_DIM || padded_dim == 64);
}
template <typename Element, int D>
constexpr bool IS_COMPILED_IN = is_compiled_in(std::is_same_v<Element, __nv_bfloat16>, D);

[[maybe_unused]] static const char *left_out(const attention_shape *shape) {
  const int padded_dim = shape->head_dim <= 32 ? 32 : shape->head_dim <= 64 ? 64 : 128;
  return is_compiled_in(shape->dtype == ATTENTION_BF16, padded_dim) ? NULL : LEFT_OUT_BY_THE_BUILD;
}

#endif

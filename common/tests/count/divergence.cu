#include "divergence.h"

#include "../emulator/device_array.h"

typedef void kernel(const float *in, float *out);

// Each warp touches 4 sectors when all its lanes access in[i]; 8 lanes in a row touch one.

static __global__ void straight(const float *in, float *out) {
  const int i = threadIdx.x;
  out[i] = in[i];
}

static __global__ void one_side(const float *in, float *out) {
  const int i = threadIdx.x;
  if (i % 32 < 8) out[i] = 1.0f;
  out[i + 64] = in[i]; // together again
}

static __global__ void both_sides(const float *in, float *out) {
  const int i = threadIdx.x;
  float x;
  if (i % 32 < 16) {
    x = in[i] + 1.0f;
  } else {
    x = in[i] * in[i + 64];
  }
  out[i] = x;
}

static __global__ void nested(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = 0.0f;
  if (i % 32 < 16) {
    x = in[i]; // 16 lanes
    if (i % 32 < 8) out[i + 64] = x;
    x += in[i + 128]; // 16 lanes again
  }
  out[i] = x + in[i + 192]; // all
}

static __global__ void trips(const float *in, float *out) {
  const int i = threadIdx.x;
  float sum = 0.0f;
  for (int n = 0; n < i % 32 / 8 + 1; n++) sum += in[i + 64 * n]; // 32, 24, 16, 8 lanes
  out[i] = sum;
}

static __global__ void early_return(const float *in, float *out) {
  const int i = threadIdx.x;
  if (i % 32 >= 24) return;
  out[i] = in[i];
}

static __global__ void leave_loop(const float *in, float *out) {
  const int i = threadIdx.x;
  float sum = 0.0f;
  for (int n = 0; n < 4; n++) {
    if (n == 2 && i % 32 < 8) continue; // 8 lanes skip the third round
    if (n == 3 && i % 32 >= 16) break;  // 16 lanes leave before the fourth
    sum += in[i + 64 * n];
  }
  out[i] = sum;
}

static __global__ void four_ways(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = 0.0f;
  if (i % 32 < 8) {
    x = in[i] + 3.0f;
  } else if (i % 32 < 16) {
    x = in[i + 64] * 5.0f;
  } else if (i % 32 < 24) {
    x = in[i + 128] - 7.0f;
  } else {
    x = in[i + 192] / 9.0f;
  }
  out[i] = x;
}

// The compiler may place it above or below its callers.
static __device__ __attribute__((noinline, noclone)) float fetch(const float *in, int i) {
  const float x = in[i];
  if (i % 2 == 0) return x * 2.0f; // parts, and meets before it returns
  return x;
}

static __global__ void calls(const float *in, float *out) {
  const int i = threadIdx.x;
  float x;
  if (i % 32 < 16) {
    x = fetch(in, i) + 1.0f; // 16 lanes
  } else {
    x = fetch(in, i + 64) - 1.0f; // the other 16, from another place
  }
  out[i] = x;
}

static __global__ void common_call(const float *in, float *out) {
  const int i = threadIdx.x;
  out[i] = fetch(in, i);
  out[i + 64] = fetch(in, i + 64);
}

// Recurses as deep as `depth` says: lanes are then at the same code, but not in the same call.
static __device__ __attribute__((noinline, noclone)) float descend(const float *in, int i,
                                                                   int depth) {
  if (depth == 0) return in[i] * 2.0f;
  return descend(in, i, depth - 1) + in[i + 64 * depth];
}

static __global__ void recursion(const float *in, float *out) {
  const int i = threadIdx.x;
  out[i] = descend(in, i, i % 32 / 16); // 16 lanes once, 16 lanes twice
}

static __global__ void barriers(const float *in, float *out) {
  __shared__ float kept[64];
  const int i = threadIdx.x;
  if (i % 32 < 8) kept[i] = in[i]; // 8 lanes
  __syncthreads();
  float x = in[i + 64]; // all, though some came later
  if (i % 32 < 8) x += kept[i];
  __syncwarp();
  out[i] = x;
}

// Each lane of a warp in turn, from the last: the others wait for it inside a loop above it.
static __global__ void turn_by_turn(const float *in, float *out) {
  __shared__ int turn[2];
  const int i = threadIdx.x, lane = i % 32;
  if (lane == 0) turn[i / 32] = 31;
  __syncwarp();
  while (atomicAdd(&turn[i / 32], 0) != lane) {
  }
  out[i] = in[i]; // one lane at a time
  atomicSub(&turn[i / 32], 1);
}

static const struct {
  kernel *launched;
  unsigned threads;
  divergence_case expected;
} cases[] = {
    {straight, 64, {"straight", 2, 8, 2, 8, 0}},
    {straight, 40, {"partial warp", 2, 5, 2, 5, 0}},
    {one_side, 64, {"one side", 2, 8, 4, 10, 2}},
    {both_sides, 64, {"both sides", 6, 12, 2, 8, 2}},
    {nested, 64, {"nested", 6, 16, 4, 10, 4}},
    {trips, 64, {"trips", 8, 20, 2, 8, 6}},
    {early_return, 64, {"early return", 2, 6, 2, 6, 2}},
    {leave_loop, 64, {"leave loop", 8, 26, 2, 8, 4}},
    {four_ways, 64, {"four ways", 8, 8, 2, 8, 6}},
    {calls, 64, {"calls", 4, 8, 2, 8, 6}},
    {common_call, 64, {"common call", 4, 16, 4, 16, 4}},
    {recursion, 64, {"recursion", 6, 12, 2, 8, 2}},
    {barriers, 64, {"barriers", 4, 10, 2, 8, 4}},
};

size_t divergence_count(void) { return sizeof cases / sizeof cases[0]; }

divergence_case divergence_at(size_t number) { return cases[number].expected; }

static bool run(kernel *launched, unsigned threads) {
  device_array<float> in(512), out(512);
  error_text error;
  launched<<<1, threads>>>(in.data(), out.data());
  return device_finished(&error, "kernel");
}

bool divergence_run(size_t number) { return run(cases[number].launched, cases[number].threads); }

bool divergence_run_turn_by_turn(void) { return run(turn_by_turn, 64); }

static __global__ void one_line(const float *in, float *out) {
  const int i = threadIdx.x;
  float x = 0.0f;
  const int line = __LINE__ + 1;
  x = in[i];
  out[i + 1] = x;
  if (i == 0) {
    out[0] = line;
  }
}

int divergence_run_one_line(void) {
  device_array<float> in(512), out(512);
  error_text error;
  one_line<<<1, 64>>>(in.data(), out.data());
  return device_finished(&error, "kernel") ? (int)out.host()[0] : -1;
}

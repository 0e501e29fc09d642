// Stand-in for CUDA's <curand_kernel.h>: random numbers in kernels. XORWOW, which is curandState, and Philox give the
// numbers of NVIDIA's cuRAND; normal numbers may differ from those of a GPU in their last digits, because a GPU's
// functions do. MRG32k3a is Philox here.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_
#include "detail/own_letters.h"

#include "cuda_runtime.h"
#include "detail/random/philox.h"
#include "detail/random/xorwow.h"

#include <math.h>

namespace emulator {

// Normal numbers are made in pairs, of which one is kept for the next call of the same kind.
enum spare_kind { SPARE_NONE, SPARE_NORMAL, SPARE_LOG_NORMAL };
template <typename T>
struct spare_number {
  T value;
  spare_kind kind;

  template <typename MakePair>
  T take(spare_kind wanted, MakePair make_pair) {
    if (kind == wanted) {
      kind = SPARE_NONE;
      return value;
    }
    const auto pair = make_pair();
    value = pair.y;
    kind = wanted;
    return pair.x;
  }
};

template <typename Generator>
struct random_state : Generator {
  spare_number<float> spare;
  spare_number<double> spare_double;
};

} // namespace emulator

struct curandStateXORWOW : emulator::random_state<emulator::xorwow> {};
struct curandStateMRG32k3a : emulator::random_state<emulator::philox> {};
struct curandStatePhilox4_32_10 : emulator::random_state<emulator::philox> {};
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

template <typename State>
void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                 State *state) {
  state->init(seed, subsequence, offset);
  state->spare = {0, emulator::SPARE_NONE}; // all of it, because kernels copy states whole
  state->spare_double = {0, emulator::SPARE_NONE};
}
template <typename State>
void skipahead(unsigned long long count, State *state) {
  state->skip(count, 0);
}
template <typename State>
void skipahead_sequence(unsigned long long count, State *state) {
  state->skip(count, State::LOG_SUBSEQUENCE);
}

// ---- Whole and uniform numbers ------------------------------------------------------------------

template <typename State>
unsigned curand(State *state) {
  return state->next();
}
template <typename State>
uint4 curand4(State *state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return uint4{x, y, z, curand(state)};
}

namespace emulator {

// In (0, 1]: the middle of the interval of all numbers that give x.
inline float uniform(unsigned x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
inline double uniform_double(unsigned low, unsigned high) {
  return static_cast<double>(low ^ static_cast<unsigned long long>(high) << 21) * 0x1p-53 + 0x1p-54;
}

// Box and Muller's pair of normal numbers.
inline float2 normal_pair(unsigned x, unsigned y) {
  const float radius = sqrtf(-2.0f * logf(uniform(x)));
  const float angle = static_cast<float>(y) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  return float2{radius * sinf(angle), radius * cosf(angle)};
}
inline double2 normal_pair_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double radius = sqrt(-2.0 * log(uniform_double(x0, x1)));
  const double angle = 2.0 * M_PI * uniform_double(y0, y1);
  return double2{radius * sin(angle), radius * cos(angle)};
}

} // namespace emulator

template <typename State>
float curand_uniform(State *state) {
  return emulator::uniform(curand(state));
}
template <typename State>
float4 curand_uniform4(State *state) {
  const float x = curand_uniform(state), y = curand_uniform(state), z = curand_uniform(state);
  return float4{x, y, z, curand_uniform(state)};
}
template <typename State>
double2 curand_uniform2_double(State *state) {
  const uint4 numbers = curand4(state);
  return double2{emulator::uniform_double(numbers.x, numbers.y),
                 emulator::uniform_double(numbers.z, numbers.w)};
}
// A single double of Philox has 32 bits, so that it takes one number.
template <typename State>
double curand_uniform_double(State *state) {
  const unsigned low = curand(state);
  if (State::DOUBLE_OF_ONE_NUMBER) return static_cast<double>(low) * 0x1p-32 + 0x1p-32;
  return emulator::uniform_double(low, curand(state));
}

// ---- Normal numbers -----------------------------------------------------------------------------

template <typename State>
float2 curand_normal2(State *state) {
  const unsigned x = curand(state);
  return emulator::normal_pair(x, curand(state));
}
template <typename State>
float4 curand_normal4(State *state) {
  const float2 first = curand_normal2(state), second = curand_normal2(state);
  return float4{first.x, first.y, second.x, second.y};
}
template <typename State>
double2 curand_normal2_double(State *state) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state);
  return emulator::normal_pair_double(x0, x1, y0, curand(state));
}
template <typename State>
float curand_normal(State *state) {
  return state->spare.take(emulator::SPARE_NORMAL, [=] { return curand_normal2(state); });
}
template <typename State>
double curand_normal_double(State *state) {
  return state->spare_double.take(emulator::SPARE_NORMAL,
                                  [=] { return curand_normal2_double(state); });
}
template <typename State>
float2 curand_log_normal2(State *state, float mean, float deviation) {
  const float2 pair = curand_normal2(state);
  return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
template <typename State>
double2 curand_log_normal2_double(State *state, double mean, double deviation) {
  const double2 pair = curand_normal2_double(state);
  return double2{exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}
template <typename State>
float curand_log_normal(State *state, float mean, float deviation) {
  return state->spare.take(emulator::SPARE_LOG_NORMAL,
                           [=] { return curand_log_normal2(state, mean, deviation); });
}
template <typename State>
double curand_log_normal_double(State *state, double mean, double deviation) {
  return state->spare_double.take(emulator::SPARE_LOG_NORMAL, [=] {
    return curand_log_normal2_double(state, mean, deviation);
  });
}

// ---- Poisson numbers ----------------------------------------------------------------------------

// Not the numbers of a GPU. Knuth's method, of products of uniform numbers, and normal numbers for a large mean.
template <typename State>
unsigned curand_poisson(State *state, double mean) {
  if (mean > 500) return static_cast<unsigned>(fmax(0, mean + sqrt(mean) * curand_normal(state)));
  unsigned count = 0;
  for (double product = curand_uniform(state); product > exp(-mean); count++)
    product *= curand_uniform(state);
  return count;
}

// NVIDIA's header has the functions of the host as well, and programs count on that. They need what is above.
#include "curand.h"

#include "detail/own_letters_end.h"

#endif

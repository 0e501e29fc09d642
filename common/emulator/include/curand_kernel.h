// Stand-in for CUDA's <curand_kernel.h>: random numbers in kernels. Every generator is Philox 4x32-10 here (Salmon and
// others, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), so the numbers are good, and others than on a GPU.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

namespace emulator {

struct random_state {
  unsigned long long seed, sequence, offset;
  unsigned block[4];
  double spare; // of the pair of normal numbers
  bool has_spare;

  void make_block() {
    unsigned c[4] = {static_cast<unsigned>(offset / 4), static_cast<unsigned>(offset / 4 >> 32),
                     static_cast<unsigned>(sequence), static_cast<unsigned>(sequence >> 32)};
    unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u) {
      const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
      const unsigned next[4] = {
          static_cast<unsigned>(b >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(b),
          static_cast<unsigned>(a >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(a)};
      for (int i = 0; i < 4; i++) c[i] = next[i];
    }
    for (int i = 0; i < 4; i++) block[i] = c[i];
  }
  unsigned next() {
    if (offset % 4 == 0) make_block();
    return block[offset++ % 4];
  }
};

} // namespace emulator

#define EMULATOR_RANDOM_STATE(name)                                                                \
  struct name : emulator::random_state {};
EMULATOR_RANDOM_STATE(curandStateXORWOW)
EMULATOR_RANDOM_STATE(curandStateMRG32k3a)
EMULATOR_RANDOM_STATE(curandStatePhilox4_32_10)
#undef EMULATOR_RANDOM_STATE
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

template <typename State>
void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                 State *state) {
  state->seed = seed;
  state->sequence = sequence;
  state->offset = offset;
  state->has_spare = false;
  if (offset % 4 != 0) state->make_block();
}
template <typename State>
unsigned curand(State *state) {
  return state->next();
}
template <typename State> // in (0, 1]
float curand_uniform(State *state) {
  return (static_cast<float>(state->next() >> 8) + 1.0f) * (1.0f / 16777216.0f);
}
template <typename State>
double curand_uniform_double(State *state) {
  const unsigned long long high = state->next(), bits = high << 21 | state->next() >> 11;
  return (static_cast<double>(bits & ((1ull << 53) - 1)) + 1.0) * (1.0 / 9007199254740992.0);
}
template <typename State>
double curand_normal_double(State *state) {
  if (state->has_spare) {
    state->has_spare = false;
    return state->spare;
  }
  const double radius = sqrt(-2.0 * log(curand_uniform_double(state)));
  const double angle = 2.0 * M_PI * curand_uniform_double(state);
  state->spare = radius * sin(angle);
  state->has_spare = true;
  return radius * cos(angle);
}
template <typename State>
float curand_normal(State *state) {
  return static_cast<float>(curand_normal_double(state));
}
template <typename State>
float2 curand_normal2(State *state) {
  const float x = curand_normal(state);
  return float2{x, curand_normal(state)};
}
template <typename State>
float4 curand_uniform4(State *state) {
  const float x = curand_uniform(state), y = curand_uniform(state), z = curand_uniform(state);
  return float4{x, y, z, curand_uniform(state)};
}
template <typename State>
float curand_log_normal(State *state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
template <typename State>
void skipahead(unsigned long long count, State *state) {
  state->offset += count;
  if (state->offset % 4 != 0) state->make_block();
}

#endif

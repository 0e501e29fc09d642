// Stand-in for CUDA's <curand.h>: random numbers that the host asks for, made by the host. See curand_kernel.h. C++.
#ifndef CURAND_H_
#define CURAND_H_

#include "curand_kernel.h"

typedef enum {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef curandStatus_t curandStatus;
typedef enum {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200
} curandRngType_t;
typedef struct curandGenerator_st {
  curandStatePhilox4_32_10 state;
} * curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
  if (type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR; // the emulator has none
  *generator = new curandGenerator_st;
  curand_init(0, 0, 0, &(*generator)->state);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  curand_init(seed, 0, 0, &generator->state);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  curand_init(generator->state.seed, 0, offset, &generator->state);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}

// The numbers are made on the host and copied, so that the sanitizer knows that they were written.
#define EMULATOR_GENERATE(name, T, value, ...)                                                     \
  inline curandStatus_t name(curandGenerator_t generator, T *out, size_t count, ##__VA_ARGS__) {   \
    for (size_t i = 0; i < count; i++) {                                                           \
      const T made = static_cast<T>(value);                                                        \
      if (cudaMemcpy(&out[i], &made, sizeof made, cudaMemcpyDefault) != cudaSuccess)               \
        return CURAND_STATUS_LAUNCH_FAILURE;                                                       \
    }                                                                                              \
    return CURAND_STATUS_SUCCESS;                                                                  \
  }
EMULATOR_GENERATE(curandGenerate, unsigned, curand(&generator->state))
EMULATOR_GENERATE(curandGenerateUniform, float, curand_uniform(&generator->state))
EMULATOR_GENERATE(curandGenerateUniformDouble, double, curand_uniform_double(&generator->state))
EMULATOR_GENERATE(curandGenerateNormal, float, mean + deviation * curand_normal(&generator->state),
                  float mean, float deviation)
EMULATOR_GENERATE(curandGenerateNormalDouble, double,
                  mean + deviation * curand_normal_double(&generator->state), double mean,
                  double deviation)
#undef EMULATOR_GENERATE

#endif

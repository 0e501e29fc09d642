// Stand-in for CUDA's <curand.h>: random numbers that the host asks for, made by the host. XORWOW, the default, and
// Philox give the numbers of NVIDIA's cuRAND in its order; every other pseudo-random generator is Philox here. C++.
#ifndef CURAND_H_
#define CURAND_H_
#include "detail/own_letters.h"

#include "detail/random/host_generator.h"

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
typedef enum {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104
} curandOrdering_t;
typedef emulator::host_generator *curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
  if (type >= CURAND_RNG_QUASI_DEFAULT) {
    fputs("curandCreateGenerator: the emulator has no quasi-random numbers\n", stderr);
    return CURAND_STATUS_TYPE_ERROR;
  }
  if (type <= CURAND_RNG_PSEUDO_XORWOW)
    *generator = new emulator::xorwow_generator;
  else
    *generator = new emulator::philox_generator;
  (*generator)->begin(0);
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
  generator->seed = seed;
  generator->begin(0);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  generator->begin(offset);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS; // there is one
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}

namespace emulator {

// The numbers are made on the host and copied, so that the sanitizer knows that they were written.
template <typename T, typename Make>
curandStatus_t generate(T *out, size_t count, Make make) {
  std::vector<T> made(count);
  make(made.data());
  return cudaMemcpy(out, made.data(), count * sizeof(T), cudaMemcpyDefault) == cudaSuccess
             ? CURAND_STATUS_SUCCESS
             : CURAND_STATUS_LAUNCH_FAILURE;
}

// Normal numbers are made in pairs, so their count must be even. `last` makes others of them.
template <typename T, typename Last>
curandStatus_t generate_normal(curandGenerator_t generator, T *out, size_t count, Last last) {
  if (count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(out, count, [=](T *made) {
    generator->normal(made, count);
    for (size_t i = 0; i < count; i++) made[i] = last(made[i]);
  });
}

} // namespace emulator

inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *out, size_t count) {
  return emulator::generate(out, count, [=](unsigned *made) { generator->whole(made, count); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t count) {
  return emulator::generate(out, count, [=](float *made) { generator->uniform(made, count); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out,
                                                  size_t count) {
  return emulator::generate(out, count, [=](double *made) { generator->uniform(made, count); });
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *out,
                                            size_t count, double mean) {
  return emulator::generate(out, count,
                            [=](unsigned *made) { generator->poisson(made, count, mean); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t count,
                                           float mean, float deviation) {
  return emulator::generate_normal(generator, out, count,
                                   [=](float x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out,
                                                 size_t count, double mean, double deviation) {
  return emulator::generate_normal(generator, out, count,
                                   [=](double x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t count,
                                              float mean, float deviation) {
  return emulator::generate_normal(generator, out, count,
                                   [=](float x) { return expf(mean + deviation * x); });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out,
                                                    size_t count, double mean, double deviation) {
  return emulator::generate_normal(generator, out, count,
                                   [=](double x) { return exp(mean + deviation * x); });
}

#include "detail/own_letters_end.h"

#endif

// cuRAND, in kernels and on the host. The expected numbers are what NVIDIA's cuRAND 13.0 gives on a CPU: its header
// compiled for the host, and the host generators of its library.
#include "feature.h"

#include <cmath>
#include <curand_kernel.h> // and curand.h, which it includes

struct drawn {
  unsigned whole;
  float uniform;
  double uniform_double;
  float normal;
  double normal_double;
};

template <typename State>
__global__ void draw(State *states, drawn *out) {
  State *state = &states[threadIdx.x];
  curand_init(2026, threadIdx.x, 5, state);
  out[threadIdx.x].whole = curand(state);
  out[threadIdx.x].uniform = curand_uniform(state);
  out[threadIdx.x].uniform_double = curand_uniform_double(state);
  out[threadIdx.x].normal = curand_normal(state);
  out[threadIdx.x].normal_double = curand_normal_double(state);
}

// A GPU's logarithms and sines differ in their last digits.
static bool near(double x, double y) { return fabs(x - y) <= 1e-5 * (1 + fabs(y)); }

static bool same(const drawn &x, const drawn &y) {
  return x.whole == y.whole && x.uniform == y.uniform && x.uniform_double == y.uniform_double &&
         near(x.normal, y.normal) && near(x.normal_double, y.normal_double);
}

template <typename State>
static bool draws(const drawn &of_0, const drawn &of_1, const drawn &of_63) {
  State *states;
  drawn *out;
  CHECK(cudaMalloc(&states, 64 * sizeof *states));
  CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
  draw<<<1, 64>>>(states, out);
  CHECK(cudaDeviceSynchronize());
  return same(out[0], of_0) && same(out[1], of_1) && same(out[63], of_63);
}

FEATURE(curand_in_kernels,
        "XORWOW (curandState) and Philox4_32_10 with the numbers of NVIDIA's cuRAND: curand, "
        "curand_uniform, curand_normal, curand_log_normal, their forms of 2, 4 and double, "
        "skipahead",
        "normal numbers may differ in their last digits; MRG32k3a and curand_poisson give other "
        "numbers; Sobol and MTGP32: an unknown name") {
  return draws<curandState>(
             {3334955083u, 0.68193692f, 0.8023330526369008, -1.490542f, -1.51256437401435},
             {2925106170u, 0.575306594f, 0.8461379574574428, -0.8742565f, 1.67865946725238},
             {2540163135u, 0.769283533f, 0.87035329720555654, 0.1347739f, 0.795944413917939}) &&
         draws<curandStatePhilox4_32_10_t>(
             {1498353002u, 0.437785923f, 0.8183378663379699, -0.8387058f, -0.214340088224617},
             {2150019305u, 0.838828683f, 0.6063816815149039, 0.3087408f, -1.18323550065726},
             {1873552700u, 0.659526467f, 0.93569289846345782, 0.1373545f, 1.26357478828676});
}

struct generated {
  unsigned first, last;
  float uniform, normal;
  double uniform_double;
};

static bool generates(curandRngType_t type, const generated &expected) {
  const int n = 5000;
  unsigned *u;
  float *f;
  double *d;
  CHECK(cudaMallocManaged(&u, n * sizeof *u));
  CHECK(cudaMallocManaged(&f, n * sizeof *f));
  CHECK(cudaMallocManaged(&d, n * sizeof *d));
  curandGenerator_t generator;
  if (curandCreateGenerator(&generator, type) != CURAND_STATUS_SUCCESS) return false;
  curandSetPseudoRandomGeneratorSeed(generator, 2026);
  curandGenerate(generator, u, n);
  curandGenerateUniform(generator, f, n);
  CHECK(cudaDeviceSynchronize());
  bool right = u[0] == expected.first && u[n - 1] == expected.last && f[n - 1] == expected.uniform;
  curandGenerateNormal(generator, f, n, 10, 2);
  curandGenerateUniformDouble(generator, d, n);
  CHECK(cudaDeviceSynchronize());
  right &= near(f[n - 1], expected.normal) && d[n - 1] == expected.uniform_double;
  return curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS && right;
}

FEATURE(
    curand_on_the_host,
    "the generators XORWOW (the default) and Philox4_32_10 with the numbers of NVIDIA's cuRAND: "
    "curandGenerate, uniform, normal and log-normal numbers, seeds and offsets",
    "other pseudo-random generators and Poisson numbers give other numbers; quasi-random ones: "
    "one sentence") {
  return generates(CURAND_RNG_PSEUDO_DEFAULT,
                   {3183818895u, 723779373u, 0.78475076f, 9.143108f, 0.46117988017008721}) &&
         generates(CURAND_RNG_PSEUDO_PHILOX4_32_10,
                   {1851468003u, 748080232u, 0.845528364f, 8.074594f, 0.7829701162757734});
}

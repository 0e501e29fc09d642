// The states of random numbers, which kernels copy from device memory and back.
#include "device_floats.h"
#include "faults.h"

#include <curand_kernel.h>

template <typename State>
__global__ void begin_kernel(State *states) {
  curand_init(1234, threadIdx.x, 0, &states[threadIdx.x]);
}
template <typename State>
__global__ void draw_kernel(State *states, float *out) {
  State own = states[threadIdx.x]; // <- state
  out[threadIdx.x] = curand_uniform(&own) + curand_normal(&own);
  states[threadIdx.x] = own;
}

template <typename State>
static void draw(bool begun) {
  State *states;
  cudaMalloc(&states, 32 * sizeof *states);
  if (begun) begin_kernel<State><<<1, 32>>>(states);
  draw_kernel<State><<<1, 32>>>(states, device_floats(32));
}
void states_of_xorwow(bool broken) { draw<curandStateXORWOW_t>(!broken); }
void states_of_philox(bool broken) { draw<curandStatePhilox4_32_10_t>(!broken); }

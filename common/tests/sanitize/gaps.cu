// Bytes that were never written, in the middle of what a thread copies as a whole. They may be padding, but not here. Lines
// that a report must name have the mark "<-".
#include "faults.h"

#include <cuda_runtime.h>

#define RUN(kernel, type)                                                                          \
  type *to;                                                                                        \
  cudaMalloc(&to, 32 * sizeof(type));                                                              \
  if (broken) kernel<false><<<1, 32>>>(to);                                                        \
  if (!broken) kernel<true><<<1, 32>>>(to);

// Three of four halves, and a gap of two bytes at the end, where a float could begin.
template <bool right>
__global__ void halves_kernel(uint2 *to) {
  __shared__ uint2 words[32];
  unsigned short *halves = reinterpret_cast<unsigned short *>(&words[threadIdx.x]);
  halves[0] = halves[1] = halves[2] = 1;
  if (right) halves[3] = 1;
  to[threadIdx.x] = words[threadIdx.x]; // <- four halves
}
void unwritten_last_half(bool broken) { RUN(halves_kernel, uint2) }

// A number of four bytes has no room for padding.
template <bool right>
__global__ void bytes_kernel(unsigned *to) {
  __shared__ unsigned words[32];
  unsigned char *bytes = reinterpret_cast<unsigned char *>(&words[threadIdx.x]);
  bytes[0] = 1;
  if (right) bytes[1] = bytes[2] = bytes[3] = 1;
  to[threadIdx.x] = words[threadIdx.x]; // <- four bytes
}
void unwritten_last_bytes(bool broken) { RUN(bytes_kernel, unsigned) }

// Memory that was never written is reported where it is read first, and not again.
template <bool right>
__global__ void again_kernel(unsigned *to) {
  __shared__ unsigned words[32];
  if (right) words[threadIdx.x] = 1;
  to[threadIdx.x] = words[threadIdx.x]; // <- first look
  __syncthreads();
  to[threadIdx.x] = words[threadIdx.x] + 1;
}
void unwritten_read_again(bool broken) { RUN(again_kernel, unsigned) }

// The gap is at the beginning, before which no padding can be, and ends at a multiple of 16 bytes in every other one.
struct three_doubles {
  double x, y, z;
};
template <bool right>
__global__ void first_kernel(three_doubles *to) {
  __shared__ three_doubles all[32];
  three_doubles &own = all[threadIdx.x];
  own.y = own.z = 1;
  if (right || threadIdx.x % 2 == 0) own.x = 1;
  to[threadIdx.x] = own; // <- three doubles
}
void unwritten_first_double(bool broken) { RUN(first_kernel, three_doubles) }

// Behind a gap of four bytes at an odd multiple of four nothing follows that would need it.
struct six_floats {
  float a, b, c, d, e, f;
};
template <bool right>
__global__ void third_kernel(six_floats *to) {
  __shared__ __align__(8) six_floats all[32];
  six_floats &own = all[threadIdx.x];
  own.a = own.b = own.d = own.e = own.f = 1;
  if (right) own.c = 1;
  to[threadIdx.x] = own; // <- six floats
}
void unwritten_third_float(bool broken) { RUN(third_kernel, six_floats) }

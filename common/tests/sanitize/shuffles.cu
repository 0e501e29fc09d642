// Lanes that read a lane which takes no part. Lines that a report must name have the mark "<-".
#include "device_floats.h"
#include "faults.h"

#define RUN(kernel, threads)                                                                       \
  if (broken) kernel<false><<<1, threads>>>(device_floats(threads));                               \
  if (!broken) kernel<true><<<1, threads>>>(device_floats(threads));

// Both halves of the second warp are in a shuffle of their own.
template <bool right>
__global__ void masked_kernel(float *out) {
  if (threadIdx.x < 32) return;
  const unsigned half = threadIdx.x % 32 < 16 ? 0x0000ffff : 0xffff0000;
  const int other = right ? 1 : 16;
  out[threadIdx.x] = __shfl_xor_sync(half, 1.0f, other); // <- masked
}
void shuffle_of_other_mask(bool broken) { RUN(masked_kernel, 64) }

// The block has 40 threads, so lane 8 of its second warp does not exist.
template <bool right>
__global__ void short_kernel(float *out) {
  if (threadIdx.x >= 32) {
    const float value = __shfl_sync(0x000000ff, 1.0f, right ? 7 : 8); // <- short
    out[threadIdx.x] = value;
  }
}
void shuffle_of_no_thread(bool broken) { RUN(short_kernel, 40) }

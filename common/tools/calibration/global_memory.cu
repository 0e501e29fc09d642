// Requests to global memory, by 8 blocks of 256 threads, which are 64 warps.
#include "case.cuh"

#include <cuda_fp16.h>

template <int STRIDE, int OFFSET>
static __global__ void load_strided(const float *in, float *out) {
  out[global_index()] = in[global_index() * STRIDE + OFFSET];
}

template <int STRIDE>
static __global__ void store_strided(const float *in, float *out) {
  out[global_index() * STRIDE] = in[global_index()];
}

template <typename Element>
static __global__ void copy(const float *in, float *out) {
  ((Element *)out)[global_index()] = ((const Element *)in)[global_index()];
}

// Every lane of a warp reads the same float.
static __global__ void load_broadcast(const float *in, float *out) {
  out[global_index()] = in[global_index() / 32];
}

// Each of the 64 warps reads consecutive floats and touches 4 sectors.
static const requests IN_A_ROW = {64, 64 * 4};

const kernel_case global_cases[] = {
    // Each of 32 lanes reads 4 bytes, which are STRIDE * 4 bytes apart, in sectors of 32 bytes.
    {"load stride 1", load_strided<1, 0>, 8, 256, {64, 64 * 4}, IN_A_ROW},
    {"load stride 2", load_strided<2, 0>, 8, 256, {64, 64 * 8}, IN_A_ROW},
    {"load stride 4", load_strided<4, 0>, 8, 256, {64, 64 * 16}, IN_A_ROW},
    {"load stride 8", load_strided<8, 0>, 8, 256, {64, 64 * 32}, IN_A_ROW},
    {"load stride 32", load_strided<32, 0>, 8, 256, {64, 2048}, IN_A_ROW},
    {"load offset 1", load_strided<1, 1>, 8, 256, {64, 64 * 5}, IN_A_ROW},
    {"load offset 8", load_strided<1, 8>, 8, 256, {64, 64 * 4}, IN_A_ROW},
    {"load broadcast", load_broadcast, 8, 256, {64, 64}, IN_A_ROW},
    {"store stride 2", store_strided<2>, 8, 256, IN_A_ROW, {64, 64 * 8}},
    {"store stride 32", store_strided<32>, 8, 256, IN_A_ROW, {64, 2048}},
    {"copy half", copy<half>, 8, 256, {64, 64 * 2}, {64, 64 * 2}},
    {"copy half2", copy<half2>, 8, 256, IN_A_ROW, IN_A_ROW},
    {"copy float3", copy<float3>, 8, 256, {64 * 3, 64 * 36}, {64 * 3, 64 * 36}},
    {"copy float4", copy<float4>, 8, 256, {64, 1024}, {64, 1024}},
    {},
};

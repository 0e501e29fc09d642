#include "product_faults.h"

#include "hopper.cuh"

int fault_line;
#define MARK fault_line = __LINE__

// ---- Products -----------------------------------------------------------------------------------

enum product_fault { LAYOUT, ALIGNMENT, PAST_SHARED, SHORT, DIFFERS, FEWER, WARP_MISSING, GROUPS };
static constexpr int TILE_BYTES = 64 * PANEL * 2;

__global__ void product_kernel(product_fault kind) {
  extern __shared__ unsigned char memory[];
  const unsigned char *tile = memory + (-shared_address(memory) & 1023);
  uint64_t a = matrix_descriptor(tile, 0), b = a;
  if (kind == LAYOUT) a &= ~(3ull << 62);
  if (kind == ALIGNMENT) b = matrix_descriptor(tile + 128, 0);
  if (kind == PAST_SHARED) b = matrix_descriptor(tile + 1024, 0);
  if (kind == DIFFERS && threadIdx.x / 32 == 2) b += 2;
  if (kind == WARP_MISSING && threadIdx.x / 32 == 3) return;
  float d[32];
  for (int i = 0; i < (kind == GROUPS ? 17 : 1); i++) {
    if (kind != FEWER || threadIdx.x < 96) MARK, wgmma<half, 64>::shared(d, a, b, true);
    if (kind == FEWER) MARK, wgmma_commit();
    if (kind != FEWER) wgmma_commit();
  }
  MARK, wgmma_wait<0>(d);
}
static void multiply(product_fault kind) {
  product_kernel<<<1, kind == SHORT ? 96 : 128, TILE_BYTES + 1023>>>(kind);
}
void fault_product_layout(void) { multiply(LAYOUT); }
void fault_product_alignment(void) { multiply(ALIGNMENT); }
void fault_product_past_shared(void) { multiply(PAST_SHARED); }
void fault_product_short_group(void) { multiply(SHORT); }
void fault_product_differs(void) { multiply(DIFFERS); }
void fault_product_fewer(void) { multiply(FEWER); }
void fault_product_warp_missing(void) { multiply(WARP_MISSING); }
void fault_product_groups(void) { multiply(GROUPS); }

__device__ static void commit_product(float (&d)[32]) {
  extern __shared__ unsigned char memory[];
  const uint64_t tile = matrix_descriptor(memory + (-shared_address(memory) & 1023), 0);
  wgmma<half, 64>::shared(d, tile, tile, true);
  wgmma_commit();
}

// The warps of the upper half wait for their product in one line, those of the lower half in another.
__global__ void two_waits_kernel() {
  float d[32];
  commit_product(d);
  if (threadIdx.x < 64) {
    wgmma_wait<0>(d);
  } else {
    MARK, wgmma_wait<0>(d);
  }
}
void fault_product_waits(void) { two_waits_kernel<<<1, 128, TILE_BYTES + 1023>>>(); }

// A warp does not wait for its product, and no such instruction follows.
__global__ void last_wait_kernel(unsigned missing_warp) {
  float d[32];
  commit_product(d);
  if (threadIdx.x / 32 != missing_warp) {
    MARK, wgmma_wait<0>(d);
  }
}
void fault_product_last_wait(void) { last_wait_kernel<<<1, 128, TILE_BYTES + 1023>>>(3); }
void fault_product_first_wait(void) { last_wait_kernel<<<1, 128, TILE_BYTES + 1023>>>(0); }

// Both halves of the warp group start the same product on the same line, but in two copies of the function.
__attribute__((always_inline)) static inline void inlined_product(float (&d)[32], uint64_t tile) {
  MARK, wgmma<half, 64>::shared(d, tile, tile, true);
}
__global__ void two_copies_kernel() {
  extern __shared__ unsigned char memory[];
  const uint64_t tile = matrix_descriptor(memory + (-shared_address(memory) & 1023), 0);
  float d[32];
  volatile int round = 0; // the compiler must not make one copy of the two
  if (threadIdx.x < 64) {
    inlined_product(d, tile);
    round = 1;
  } else {
    round = 2;
    inlined_product(d, tile);
  }
  (void)round;
  wgmma_commit();
  wgmma_wait<0>(d);
}
void fault_product_copies(void) { two_copies_kernel<<<1, 128, TILE_BYTES + 1023>>>(); }

// The halves of the warp group start their products on two lines.
__global__ void two_lines_kernel() {
  extern __shared__ unsigned char memory[];
  const uint64_t tile = matrix_descriptor(memory + (-shared_address(memory) & 1023), 0);
  float d[32];
  if (threadIdx.x < 64) {
    wgmma<half, 64>::shared(d, tile, tile, true);
  } else {
    MARK, wgmma<half, 64>::shared(d, tile, tile, true);
  }
  wgmma_commit();
  wgmma_wait<0>(d);
}
void fault_product_lines(void) { two_lines_kernel<<<1, 128, TILE_BYTES + 1023>>>(); }

// D = A B with all elements 1, in half: 16.
__global__ void early_product_kernel(float *seen) {
  extern __shared__ unsigned char memory[];
  half *tile = (half *)(memory + (-shared_address(memory) & 1023));
  for (int i = threadIdx.x; i < TILE_BYTES / 2; i += blockDim.x) tile[i] = __float2half(1.0f);
  __syncthreads();
  const uint64_t b = matrix_descriptor(tile, 0);
  unsigned a[4] = {0x3C003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00};
  volatile float now[SEEN_OF_PRODUCTS];
  float d[32];
  wgmma<half, 64>::registers(d, a, b, true);
  wgmma_wait<0>(d);
  now[0] = d[0]; // not committed
  wgmma_commit();
  now[1] = d[31]; // not waited for
  wgmma_wait<0>(d);
  now[2] = d[0];
  wgmma<half, 64>::registers(d, a, b, true);
  wgmma_commit();
  a[0] = 0;
  wgmma_wait<0>(d);
  now[3] = d[0]; // of the new a
  a[0] = a[1];
  wgmma<half, 64>::registers(d, a, b, true);
  wgmma_commit();
  tile[0] = __float2half(0.0f);
  wgmma_wait<0>(d);
  now[4] = d[0];
  for (int i = 0; i < SEEN_OF_PRODUCTS; i++)
    if (threadIdx.x == 0) seen[i] = now[i];
}
void seen_of_products(float *seen) {
  float *seen_on_device;
  cudaMalloc(&seen_on_device, SEEN_OF_PRODUCTS * sizeof(float));
  early_product_kernel<<<1, 128, TILE_BYTES + 1024>>>(seen_on_device);
  cudaMemcpy(seen, seen_on_device, SEEN_OF_PRODUCTS * sizeof(float), cudaMemcpyDeviceToHost);
}

// ---- Registers ----------------------------------------------------------------------------------

template <int REGISTERS>
__global__ void registers_kernel(unsigned missing_warp) {
  if (threadIdx.x / 32 != missing_warp) MARK, take_registers<REGISTERS>();
}
void fault_registers_number(void) { registers_kernel<252><<<1, 256>>>(8); }
void fault_registers_none(void) { registers_kernel<256><<<1, 384>>>(12); }
void fault_registers_warp(void) { registers_kernel<248><<<1, 128>>>(1); }

// What __launch_bounds__ lets the compiler use is rounded down to a multiple of 8, at most 248, and a warpgroup may ask for
// as many as it has.
template <int GIVEN, int TAKEN>
__global__ void changing_kernel(bool gives) {
  if (gives) {
    MARK, give_registers<GIVEN>();
  } else {
    MARK, take_registers<TAKEN>();
  }
}
void right_registers(void) {
  changing_kernel<24, 248><<<1, 128>>>(true);
  changing_kernel<24, 248><<<1, 128>>>(false);
  changing_kernel<168, 168><<<1, 384>>>(true);
  changing_kernel<168, 168><<<1, 384>>>(false);
}
void fault_registers_few(void) { changing_kernel<16, 248><<<1, 128>>>(true); }
void fault_registers_many(void) { changing_kernel<24, 264><<<1, 128>>>(false); }
void fault_registers_not_fewer(void) { changing_kernel<256, 248><<<1, 128>>>(true); }
void fault_registers_not_more(void) { changing_kernel<24, 240><<<1, 128>>>(false); }
void fault_registers_threads(void) { changing_kernel<24, 248><<<1, 160>>>(true); }

__global__ void differing_kernel() {
  if (threadIdx.x < 64) {
    give_registers<40>();
  } else {
    MARK, give_registers<48>();
  }
}
void fault_registers_differ(void) { differing_kernel<<<1, 128>>>(); }

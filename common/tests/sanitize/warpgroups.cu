// Products of two warpgroups, and what few products show: the last registers of D, groups without a product, shapes that
// differ. Lines that a report must name have the mark "<-".
#include "faults.h"
#include "tiles.h"

#define RUN(kernel, threads)                                                                       \
  if (broken) kernel<false><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));    \
  if (!broken) kernel<true><<<1, threads, TWO_TILES>>>(map_of_zeros(), device_floats(threads));

// The second warpgroup's product may still read the tile when a copy overwrites it.
template <bool right>
__global__ void second_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = arrived_tile(memory, &map);
  float d[32];
  wgmma_fence();
  if (threadIdx.x >= 128) {
    wgmma<half, 64>::shared(d, fetched.matrix, fetched.matrix, true); // <- second warpgroup
    wgmma_commit();
    if (right) wgmma_wait<0>(d);
  }
  __syncthreads();
  if (threadIdx.x == 0) fetch(fetched.place, &map, fetched.full);
  if (threadIdx.x >= 128) wgmma_wait<0>(d);
  if (threadIdx.x >= 128) out[threadIdx.x] = d[0];
  barrier_wait(fetched.full, 1);
}
void product_of_second_warpgroup(bool broken) { RUN(second_kernel, 256) }

// The second warpgroup does not wait. A group without products needs no wait.
template <bool right>
__global__ void second_left_kernel(const __grid_constant__ CUtensorMap map, float *) {
  extern __shared__ unsigned char memory[];
  const fetched_tile fetched = arrived_tile(memory, &map);
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, fetched.matrix, fetched.matrix, true); // <- second left alone
  wgmma_commit();
  if (right || threadIdx.x < 128) wgmma_wait<0>(d);
  if (right) wgmma_commit();
}
void product_of_second_left(bool broken) { RUN(second_left_kernel, 256) }

// The last of a thread's registers belong to the product like the first.
template <bool right>
__global__ void last_register_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- last register product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  out[threadIdx.x] = d[31]; // <- last register read
  wgmma_wait<0>(d);
}
void product_last_register(bool broken) { RUN(last_register_kernel, 128) }

// A thread may read the registers of A while the product reads them, and not those of D.
template <bool right>
__global__ void read_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32];
  unsigned a[4] = {};
  wgmma_fence();
  wgmma<half, 64>::registers(d, a, matrix, true); // <- product of registers
  wgmma_commit();
  out[threadIdx.x] = right ? float(a[3]) : d[16]; // <- read beside it
  wgmma_wait<0>(d);
}
void product_operand_read(bool broken) { RUN(read_kernel, 128) }

// Nor may it write to any of those of A, and a group may have more products than one.
template <bool right>
__global__ void later_kernel(const __grid_constant__ CUtensorMap map, float *out, bool writes) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32], e[32];
  unsigned a[4] = {};
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true);
  wgmma<half, 64>::registers(e, a, matrix, true); // <- second of a group
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  if (writes) {
    a[3] = 1; // <- use of its registers
  } else {
    out[threadIdx.x] = e[31]; // <- use of its registers
  }
  wgmma_wait<0>(d);
  out[threadIdx.x] = e[0] + a[3];
}
static void run_later(bool broken, bool writes) {
  const CUtensorMap map = map_of_zeros();
  if (broken) later_kernel<false><<<1, 128, TWO_TILES>>>(map, device_floats(128), writes);
  if (!broken) later_kernel<true><<<1, 128, TWO_TILES>>>(map, device_floats(128), writes);
}
void product_operand_written(bool broken) { run_later(broken, true); }
void product_second_of_group(bool broken) { run_later(broken, false); }

// Nor before the product is in a group.
template <bool right>
__global__ void uncommitted_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32];
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- uncommitted product
  if (!right) out[threadIdx.x] = d[3];              // <- uncommitted read
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[3];
}
void product_uncommitted_read(bool broken) { RUN(uncommitted_kernel, 128) }

// The fence must be behind the last access to any of the registers, a read as well: the last of D or of A, or the first as
// the second half of a wider access.
enum unfenced { LAST_OF_D, LAST_OF_A, HALF_OF_PAIR, READ_OF_D };
template <unfenced which, bool right>
__device__ void multiply_unfenced(unsigned char *memory, const CUtensorMap *map, float *out) {
  const uint64_t matrix = arrived_tile(memory, map).matrix;
  __align__(8) float registers[34] = {};
  float(&d)[32] = *(float(*)[32])(registers + 1);
  unsigned a[4] = {};
  wgmma_fence();
  if (which == LAST_OF_D) d[31] = 1;                                   // <- unfenced access
  if (which == LAST_OF_A) a[3] = 1;                                    // <- unfenced access
  if (which == HALF_OF_PAIR) *(float2 *)registers = make_float2(1, 1); // <- unfenced access
  if (which == READ_OF_D) out[threadIdx.x] = d[30];                    // <- unfenced access
  if (right) wgmma_fence();
  wgmma<half, 64>::registers(d, a, matrix, false); // <- unfenced product
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
#define UNFENCED(name, which)                                                                      \
  template <bool right>                                                                            \
  __global__ void name##_kernel(const __grid_constant__ CUtensorMap map, float *out) {             \
    extern __shared__ unsigned char memory[];                                                      \
    multiply_unfenced<which, right>(memory, &map, out);                                            \
  }                                                                                                \
  void product_unfenced_##name(bool broken) { RUN(name##_kernel, 128) }
UNFENCED(last_of_d, LAST_OF_D)
UNFENCED(last_of_a, LAST_OF_A)
UNFENCED(half_of_pair, HALF_OF_PAIR)
UNFENCED(read_of_d, READ_OF_D)

// The warp that has written executes further fences behind the barrier, which come too late, and take nothing away from the
// one before it.
template <bool right>
__global__ void fenced_again_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32];
  if (threadIdx.x >= 128)
    tiles(memory)[0][5][threadIdx.x % 32 * 2] = __float2half(1); // <- again write
  if (right && threadIdx.x >= 128) writes_for_wgmma();
  __syncthreads();
  if (threadIdx.x >= 128) {
    writes_for_wgmma();
  } else {
    for (int i = 0; i < 20; i++) __nanosleep(1000);
    wgmma_fence();
    wgmma<half, 64>::shared(d, matrix, matrix, true); // <- again product
    wgmma_commit();
    wgmma_wait<0>(d);
    out[threadIdx.x] = d[0];
  }
}
void product_of_writes_fenced_again(bool broken) { RUN(fenced_again_kernel, 160) }

// Two products add to the same D only if they have the same shape.
template <bool right>
__global__ void shapes_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  float d[32];
  float(&narrow)[16] = *(float(*)[16])d;
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, matrix, true); // <- wide product
  wgmma_commit();
  if (right) wgmma_wait<0>(d);
  if (right) wgmma_fence();
  wgmma<half, 32>::shared(narrow, matrix, matrix, true); // <- narrow product
  wgmma_commit();
  wgmma_wait<0>(d);
  out[threadIdx.x] = d[0];
}
void product_of_other_shape(bool broken) { RUN(shapes_kernel, 128) }

// The product reads rows that no thread of its block has written. Those that the block before has written are none of them.
template <bool right>
__global__ void stale_kernel(const __grid_constant__ CUtensorMap map, float *out) {
  extern __shared__ unsigned char memory[];
  const uint64_t matrix = arrived_tile(memory, &map).matrix;
  const uint64_t second = matrix_descriptor(&tiles(memory)[1], 0);
  float d[32];
  if (!right && threadIdx.x < PANEL)
    tiles(memory)[1][5][threadIdx.x] = __float2half(1); // <- stale write
  __syncthreads();
  wgmma_fence();
  wgmma<half, 64>::shared(d, matrix, second, true); // <- product of stale rows
  wgmma_commit();
  wgmma_wait<0>(d);
  if (threadIdx.x < PANEL) tiles(memory)[1][5][threadIdx.x] = __float2half(1);
  out[128 * blockIdx.x + threadIdx.x] = 1;
}
void product_of_stale_rows(bool broken) {
  if (broken) stale_kernel<false><<<1, 128, TWO_TILES>>>(map_of_zeros(), device_floats(128));
  if (!broken) stale_kernel<true><<<2, 128, TWO_TILES>>>(map_of_zeros(), device_floats(256));
}
